"""Opens the model that a spec names, with those that answer in its place.

It must not know how any of them is asked.
"""

from __future__ import annotations

from evalsi_kernel.target import Target, TargetServices, TargetSettings

from .fallback_keys import with_inherited
from .fallbacks import Fallbacks
from .model import Model
from .model_options import RESPONSES, OpenAIOptions, options_of
from .responses import Responses


def model_target(settings: TargetSettings, lent: TargetServices) -> Target:
    """The target; each of its fallbacks is made now, so that a key that is missing is told before anything is paid for.

    Raises:
        ConfigError: one of them cannot be made.
    """
    options = options_of(settings.connector).model_validate(settings.options)
    first = _one(settings, lent)
    if not options.fallbacks:
        return first
    set_there = {name: value for name, value in settings.options.items() if name not in ("fallbacks", "fallback_after")}
    others = []
    for fallback in options.fallbacks:
        connector, own = with_inherited(fallback.model_dump(exclude_unset=True), settings.connector, set_there)
        others.append(_one(settings._replace(connector=connector, options=own), lent))
    return Fallbacks(first, others, options.fallback_after)


def _one(settings: TargetSettings, lent: TargetServices) -> Target:
    """One model, by the API that its keys name."""
    options = options_of(settings.connector).model_validate(settings.options)
    if isinstance(options, OpenAIOptions) and options.api == RESPONSES:
        return Responses(settings._replace(connector=RESPONSES, options=options.for_responses()))
    return Model(settings, lent)
