"""The conformance kit: check offline that a pack follows the protocol and its manifest.

It depends only on the protocol, because a pack may be written without the kernel and the SDK.
"""
