"""Text overlap: BLEU, corpus BLEU, chrF, ROUGE and token F1."""

from __future__ import annotations

from evalsi_pack_text.bleu import Bleu, CorpusBleu
from evalsi_pack_text.chrf import Chrf
from evalsi_pack_text.rouge import Rouge
from evalsi_pack_text.token_f1 import token_f1

EVALUATORS = [Bleu, CorpusBleu, Chrf, Rouge, token_f1]
