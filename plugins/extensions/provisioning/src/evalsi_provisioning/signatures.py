"""Sign releases and verify signatures with Ed25519 keys.

Import this module only to sign or verify: importing `cryptography` takes longer than most commands.
"""

from __future__ import annotations

import argparse
import base64
import binascii
import os
import stat
from pathlib import Path

from cryptography.exceptions import InvalidSignature, UnsupportedAlgorithm
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey

from evalsi_kernel.commands import Toolkit
from evalsi_kernel.errors import ConfigError, PackError

from .pack_index import Signature

MAX_KEY_BYTES = 16 * 1024
_PRIME = 2**255 - 19
_CONTEXT = "evalsi pack release, signature 1"
_NEW_KEY = "Make one with `evalsi plugins keygen FILE`, or name another file."


def run_keygen(options: argparse.Namespace, _: Toolkit) -> int:
    """`evalsi plugins keygen`."""
    print(f"wrote {options.file}; keep it secret, and tell others its fingerprint:\n{make_key(options.file)}")
    return 0


def make_key(path: Path) -> str:
    """Write a new private key (PKCS #8 in PEM) to a file that only its owner may read.

    Returns:
        The fingerprint of its public key.

    Raises:
        ConfigError: `config.signing_key`; the file exists or cannot be written.
    """
    key = Ed25519PrivateKey.generate()
    text = key.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )
    try:
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
        with open(descriptor, "wb") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
    except FileExistsError as error:
        raise _key_fault(path, "exists already, and a key is never replaced", "Name another file.") from error
    except OSError as error:
        raise _key_fault(path, f"cannot be written: {error.strerror or error}", "Name another file.") from error
    return _signature(key, b"").fingerprint


def read_key(path: Path) -> Ed25519PrivateKey:
    """Read a private key.

    Raises:
        ConfigError: `config.signing_key`; the file cannot be read, is accessible to other users, or is not an
            unencrypted Ed25519 key in PEM.
    """
    try:
        # Without O_NONBLOCK, opening a named pipe would block.
        with open(os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK), "rb") as file:
            state = os.fstat(file.fileno())
            if not stat.S_ISREG(state.st_mode):
                raise _key_fault(path, "is no regular file", _NEW_KEY)
            if state.st_mode & 0o077:
                mode = f"{stat.S_IMODE(state.st_mode):04o}"
                raise _key_fault(path, f"can be read or changed by others (mode {mode})", f"Run: chmod 600 {path}")
            text = file.read(MAX_KEY_BYTES + 1)
    except OSError as error:
        raise _key_fault(path, f"cannot be read: {error.strerror or error}", _NEW_KEY) from error
    if len(text) > MAX_KEY_BYTES:
        raise _key_fault(path, "is too large for a key", _NEW_KEY)
    try:
        key = serialization.load_pem_private_key(text, password=None)
    except TypeError as error:
        raise _key_fault(path, "has a password, and such keys are not read", _NEW_KEY) from error
    except (ValueError, UnsupportedAlgorithm) as error:
        raise _key_fault(path, "is damaged, or no private key in PEM", _NEW_KEY) from error
    if not isinstance(key, Ed25519PrivateKey):
        raise _key_fault(path, "is of another kind than Ed25519", _NEW_KEY)
    return key


def sign(key: Ed25519PrivateKey, name: str, version: str, sha256: str) -> Signature:
    """Sign a release.

    Args:
        key: the publisher's private key.
        name: name of the pack, with its publisher.
        version: version of the pack.
        sha256: digest of the archive, in hex.
    """
    return _signature(key, _message(name, version, sha256))


def verify(signature: Signature, name: str, version: str, sha256: str) -> None:
    """Verify the signature of a release; raises `pack.signature` if it is invalid."""
    try:
        public = _decoded(signature.public_key)
        if _has_small_order(public):
            raise ValueError("anyone can sign for this key")
        key = Ed25519PublicKey.from_public_bytes(public)
        key.verify(_decoded(signature.value), _message(name, version, sha256))
    except (InvalidSignature, ValueError) as error:
        raise PackError(
            f"The signature of {name} {version} is not of this archive: it does not verify.",
            "Do not use the file. Tell its publisher, and whoever keeps the index.",
            code="pack.signature",
        ) from error


def _has_small_order(public: bytes) -> bool:
    """Whether a public key has small order, so that signatures can be forged without a private key.

    OpenSSL accepts such keys. The order of these points divides 8: y is 0, 1 or -1, or the doubled point has y = 0. On
    the curve -x² + y² = 1 + d·x²y² with d = -121665/121666 the latter is the polynomial below.
    """
    y = (int.from_bytes(public, "little") & ((1 << 255) - 1)) % _PRIME
    return y in (0, 1, _PRIME - 1) or (121665 * y**4 - 2 * 121666 * y**2 + 121666) % _PRIME == 0


def _message(name: str, version: str, sha256: str) -> bytes:
    """Return the bytes to sign, one line per field; no field can contain a newline."""
    return "\n".join([_CONTEXT, name, version, sha256, ""]).encode()


def _signature(key: Ed25519PrivateKey, message: bytes) -> Signature:
    public = key.public_key().public_bytes_raw()
    return Signature(public_key=base64.b64encode(public).decode(), value=base64.b64encode(key.sign(message)).decode())


def _decoded(text: str) -> bytes:
    try:
        return base64.b64decode(text, validate=True)
    except binascii.Error as error:
        raise ValueError("is no base64") from error


def _key_fault(path: Path, why: str, hint: str) -> ConfigError:
    return ConfigError(f"The key {path} {why}.", hint, code="config.signing_key")
