"""A certificate for this machine's own address, made anew and signed by nobody that a client trusts."""

from __future__ import annotations

import ssl

import trustme


class Certificate:
    """A server's certificate, and the authority that signed it."""

    def __init__(self) -> None:
        authority = trustme.CA()
        self.authority_pem = authority.cert_pem.bytes()
        self.context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        authority.issue_cert("127.0.0.1", "localhost").configure_cert(self.context)
