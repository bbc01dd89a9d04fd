"""Names exported by RAGAS that have no row in the table: aliases, and metrics that cannot run here.

Together with the table it covers every name that RAGAS exports; a test fails on a new one.
"""

from __future__ import annotations

from types import MappingProxyType

SAME_AS = MappingProxyType(
    {
        "AgentGoalAccuracy": "agent-goal-accuracy",
        "AnswerSimilarity": "semantic-similarity",
        "ChrfScore": "chrf-score",
        "ContextPrecisionWithReference": "context-precision",
        "ContextPrecisionWithoutReference": "context-utilization",
        "InstanceRubrics": "instance-specific-rubrics",
        "LLMContextPrecisionWithReference": "context-precision",
        "LLMContextPrecisionWithoutReference": "context-utilization",
        "LLMContextRecall": "context-recall",
        "LLMSQLEquivalence": "sql-semantic-equivalence",
        "ResponseRelevancy": "answer-relevancy",
        "RubricsScore": "domain-specific-rubrics",
        "RubricsScoreWithoutReference": "domain-specific-rubrics",
        "SummarizationScore": "summary-score",
        "TopicAdherenceScore": "topic-adherence",
    }
)
"""Aliases and older names of metrics, and the evaluator for each."""

NOT_HERE = MappingProxyType(
    {
        "DataCompyScore": "Compares tables with pandas, polars and datacompy, which are as large as all the rest.",
        "FaithfulnesswithHHEM": "Runs a classifier of its own in the process, fetched from a model hub.",
        "MultiModalFaithfulness": "Reads images, and the judge of this kernel reads text.",
        "MultiModalRelevance": "Reads images, and the judge of this kernel reads text.",
        "RougeScore": "Needs a library without a wheel, and nothing is built from source; the pack `text` has `rouge`.",
        "RankingMetric": "Gives a list of texts in an order, which is no score.",
    }
)
"""Metrics that cannot run here, and why."""

NO_METRIC = frozenset(
    {
        "BaseMetric",
        "DistanceMeasure",
        "LLMMetric",
        "Metric",
        "MetricOutputType",
        "MetricResult",
        "MetricType",
        "MetricWithEmbeddings",
        "MetricWithLLM",
        "MultiTurnMetric",
        "SingleTurnMetric",
        "discrete_metric",
        "numeric_metric",
        "ranking_metric",
    }
)
"""Exported names that are not metrics: base classes, types and decorators."""
