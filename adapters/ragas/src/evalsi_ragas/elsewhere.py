"""What RAGAS exports and the table has no row for: names that mean a metric of the table, and what does not run here.

With the table it accounts for all that RAGAS exports; a test fails on a new name. It must not know RAGAS.
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
"""Other and older names of metrics, and the evaluator that each is."""

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
"""Metrics that do not run here, and why."""

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
"""What RAGAS exports beside metrics: bases, types and decorators."""
