"""The conformance kit: whether a pack keeps the protocol and the promises of its manifest, offline.

It stands on the protocol alone; it must not know the kernel or the SDK, as a pack may be written without either.
"""
