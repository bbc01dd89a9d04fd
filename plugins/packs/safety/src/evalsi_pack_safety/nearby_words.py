"""Words that say what a number is, in some twenty languages; each list is for one question."""

from __future__ import annotations

from evalsi_pack_safety.nearby import Nearby

PHONES = Nearby((
    "phone*", "telephone*", "telephones", "tlf", "my number", "her number", "his number", "their number",
    "your number", "su número", "mi número", "tu número", "mon numéro", "son numéro", "meine nummer", "mio numero",
    "tel", "tel.", "tél", "mobile*", "cell", "cellphone*", "call", "call me at",
    "reach me at", "reach me on", "reach us at", "reach us on",
    "dial", "ring", "text me", "sms", "fax", "whatsapp", "telegram", "viber", "signal", "contact number", "contact no",
    "hotline", "☎", "☏", "✆", "📞", "📱", "📲",
    "teléfono*", "telefono*", "móvil", "movil", "celular*", "cel", "llama*", "llámame al", "llame al",
    "telefon*", "handy*", "mobil*", "rufnummer*", "festnetz", "durchwahl", "anrufen unter", "erreichbar unter",
    "téléphone*", "telephone*", "portable*", "appelez", "appelle*", "joindre au", "numéro de tél",
    "telefone*", "telemóvel", "ligue para", "zap", "cellulare*", "chiama*", "telefoon*", "mobiel", "gsm", "bel",
    "komórk*", "tel. kom", "puhelin*", "puh", "τηλ", "τηλέφωνο", "κινητό", "telefonska", "klic", "pokličite", "mobi",
    "телефон*", "тел", "тел.", "моб", "моб.", "мобильный", "звоните", "позвоните", "дзвоніть",
    "电话*", "電話*", "手机*", "手機*", "携帯*", "联系方式", "番号", "전화*", "휴대폰*", "연락처*", "핸드폰*",
    "फोन*", "फ़ोन*", "मोबाइल*", "दूरभाष", "هاتف*", "جوال*", "موبايل*", "تلفون*", "טלפון*", "נייד",
    "nomor hp", "hp", "telp", "telepon*", "sđt", "điện thoại", "โทร*", "เบอร์*", "cep telefonu", "ara",
))  # fmt: skip

NUMBERED_THINGS = Nearby((
    "order*", "order no.", "order number", "invoice*", "receipt*", "ref", "reference*", "serial*", "part", "part no.",
    "sku", "tracking*", "case", "ticket*", "isbn*", "issn", "imei", "ean", "upc", "gtin", "sscc", "model*", "id", "ids",
    "account*", "policy*", "batch", "lot", "version", "commit", "build", "doi", "arxiv", "patent*", "vat", "siret",
    "siren", "ico", "uuid", "page*", "pp", "room*", "timestamp*", "seed", "port", "article*", "zip*", "cas", "usps",
    "duns", "nip", "regon", "krs",
    "fedex", "ups", "no", "nr", "№", "n°",
    "pedido*", "factura*", "referencia*", "bestell*", "bestellung*", "bestellnummer", "rechnung*", "rechnungsnummer",
    "aktenzeichen", "steuernummer", "kundennummer", "seriennummer", "commande*", "facture*", "dossier*", "ordine*",
    "fattura*", "encomenda*", "fatura*", "bestelling*", "factuur*", "zamówieni*", "faktur*", "naročil*", "račun*",
    "заказ*", "номер заказа", "счёт*", "счет*", "订单*", "訂單*", "注文*", "发票*", "請求書*", "주문*", "sipariş*",
    "الطلب", "फ़ैक्टरी", "ऑर्डर*",
))  # fmt: skip

SOCIAL_SECURITY = Nearby(
    (
        "ssn", "ssns", "social security", "social security number", "social security no", "social sec", "soc sec",
        "social is", "ss", "social", "seguro social", "sécurité sociale américaine", "tax id", "taxpayer id",
    ),
    gap=16,
)  # fmt: skip

ADDRESSES = Nearby((
    "ip", "ips", "ip address*", "ipv4", "address*", "addr", "host*", "client ip", "client_ip", "remote*",
    "peer", "source", "src", "dst", "login from", "connected from", "connection from", "visitor*", "forwarded-for",
    "dirección", "adresse*", "indirizzo", "endereço", "naslov", "адрес*", "地址", "アドレス", "주소", "عنوان",
))  # fmt: skip

VERSIONS = Nearby((
    "version*", "versions", "ver", "ver.", "v", "v.", "release*", "rev", "revision*", "build*", "firmware*", "update*",
    "upgrade*", "upgrade from", "patch", "windows", "macos", "ios", "android", "chrome", "firefox", "safari", "edge",
    "kernel", "driver*", "section*", "sec", "chapter*", "clause*", "article*", "annex", "figure", "fig", "table",
    "paragraph*", "step", "oid", "§", "§§", "date", "dated", "item",
    "versión", "versione", "versão", "wersja", "verze", "verzija*", "sürüm", "версия", "версии", "версія", "版本",
    "バージョン", "버전", "संस्करण", "الإصدار", "kapitel", "abschnitt", "ausgabe", "chapitre", "capítulo", "capitolo",
    "sección", "sezione", "seção", "hoofdstuk", "rozdział", "poglavje", "глава", "раздел", "第",
))  # fmt: skip

MONEY_BEFORE = Nearby(("€", "$", "£", "¥", "₹", "eur", "usd", "chf", "preis", "precio", "prix", "prezzo"), gap=2)
