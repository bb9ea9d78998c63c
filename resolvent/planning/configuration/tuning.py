"""The key `tuning` of an experiment: values of training settings, whose combinations every model tries."""

from __future__ import annotations

from itertools import product
from typing import Annotated, Any

from pydantic import Field, create_model, model_validator

from resolvent.common.settings import Settings
from resolvent.training.settings import TrainingSettings

# Training settings that short runs cannot choose: their own length, the samples, what is recorded, a seed.
NOT_TUNED = ("epochs", "train_samples", "record_test_error", "loader_seed", "fresh_samples")
TUNABLE = [name for name in TrainingSettings.model_fields if name not in NOT_TUNED]


class _Tuning(Settings):
    epochs: int = Field(
        ge=1, description="passes over the training samples in a short run; its schedule is as long"
    )

    @model_validator(mode="after")
    def _lists_fit(self) -> _Tuning:
        if not self.lists:
            raise ValueError(f"no setting to choose; accepted: a list of values of {', '.join(TUNABLE)}")
        for name, values in self.lists.items():
            if repeated := [one for one in values if values.count(one) > 1]:
                raise ValueError(f"{name}: {repeated[0]} is named {len(repeated)} times")
        return self

    @property
    def lists(self) -> dict[str, list[Any]]:
        return {name: values for name in TUNABLE if (values := getattr(self, name)) is not None}

    @property
    def candidates(self) -> dict[str, dict[str, Any]]:
        """Return every combination of values, by the name of its folder; the last setting changes fastest."""
        combinations = (
            dict(zip(self.lists, values, strict=True)) for values in product(*self.lists.values())
        )
        return {"-".join(f"{name}_{value}" for name, value in one.items()): one for one in combinations}

    def short_run(self, candidate: str) -> dict[str, Any]:
        """Return the training settings that differ in the short run of a candidate.

        It never sees a test sample.
        """
        return {**self.candidates[candidate], "epochs": self.epochs, "record_test_error": False}


def _values_of(name: str) -> tuple[Any, Any]:
    setting = TrainingSettings.model_fields[name]
    value = Annotated[(setting.annotation, Field(), *setting.metadata)]  # type: ignore[name-defined]
    values = Annotated[list[value], Field(min_length=2)]
    return values | None, Field(None, description=f"two or more values of `training.{name}` to try")


Tuning = create_model(  # type: ignore[call-overload]
    "Tuning",
    __base__=_Tuning,
    __doc__="Training settings to choose on validation samples, with equal effort for every model.",
    **{name: _values_of(name) for name in TUNABLE},
)
