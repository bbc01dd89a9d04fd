"""Safety checks: leaks of personal data, secrets and canaries, refusals, harmlessness."""

from __future__ import annotations

from evalsi_pack_safety.canary_leak import CanaryLeak
from evalsi_pack_safety.harmlessness import harmlessness
from evalsi_pack_safety.pii_leak import PiiLeak
from evalsi_pack_safety.refusal import refusal
from evalsi_pack_safety.secret_leak import SecretLeak

EVALUATORS = [PiiLeak, SecretLeak, CanaryLeak, refusal, harmlessness]
