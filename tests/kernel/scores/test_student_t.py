"""Critical values against scipy's."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evalsi_kernel.scores.student_t import t_critical, z_critical

# scipy 1.17.1: scipy.stats.norm.isf((1 - level) / 2)
NORMAL = [
    (0.5, 0.6744897501960817),
    (0.9, 1.6448536269514729),
    (0.95, 1.959963984540054),
    (0.99, 2.5758293035489004),
    (0.9999, 3.8905918864131204),
]

# scipy 1.17.1: scipy.stats.t.isf((1 - level) / 2, df)
STUDENT = [
    (0.8, 1, 3.0776835371752544),
    (0.8, 2, 1.8856180831641272),
    (0.8, 29, 1.311433647301551),
    (0.8, 999, 1.2823995700373971),
    (0.8, 1000, 1.2823987214609247),
    (0.8, 10000000, 1.2815516502030833),
    (0.95, 1, 12.706204736174694),
    (0.95, 2, 4.302652729749462),
    (0.95, 3, 3.1824463052837078),
    (0.95, 5, 2.5705818356363146),
    (0.95, 10, 2.228138851986274),
    (0.95, 29, 2.045229642132703),
    (0.95, 30, 2.0422724563012378),
    (0.95, 100, 1.9839715185235518),
    (0.95, 999, 1.9623414611334493),
    (0.95, 1000, 1.9623390808264083),
    (0.95, 5000, 1.9604385517065073),
    (0.95, 100000, 1.9599877075346095),
    (0.95, 10000000, 1.959964221767205),
    (0.99, 1, 63.656741162871526),
    (0.99, 4, 4.604094871415897),
    (0.99, 100, 2.6258905214380173),
    (0.99, 1000, 2.580754698065951),
    (0.9999, 1, 6366.197671316637),
    (0.9999, 2, 99.99249984375004),
    (0.9999, 30, 4.482417175409786),
    (0.9999, 999, 3.906359561102238),
    (0.9999, 1000, 3.9063437367014084),
    (0.9999, 10000000, 3.8905934559470445),
]


# scipy 1.17.1: scipy.stats.t.isf((1 - level) / 2, df)
BETWEEN_WHOLE_NUMBERS = [
    (0.95, 1.0001, 12.703202820451473),
    (0.95, 1.5, 6.016663104427929),
    (0.95, 2.7, 3.3921483831737507),
    (0.8, 2.5, 1.7302509288071766),
    (0.99, 17.3, 2.892027641127293),
    (0.9999, 3.9, 16.2382125885884),
    (0.95, 300.1, 1.9679003552906822),
    (0.9999, 999.5, 3.9063516449295097),
    (0.95, 5000.5, 1.9604385042432446),
]


@pytest.mark.parametrize(("level", "expected"), NORMAL)
def test_the_normal_critical_value_agrees_with_scipy(level: float, expected: float) -> None:
    assert z_critical(level) == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize(("level", "df", "expected"), STUDENT)
def test_the_t_critical_value_agrees_with_scipy_from_one_to_ten_million_degrees_of_freedom(
    level: float, df: int, expected: float
) -> None:
    assert t_critical(level, df) == pytest.approx(expected, rel=1e-10)


@pytest.mark.parametrize(("level", "df", "expected"), BETWEEN_WHOLE_NUMBERS)
def test_degrees_of_freedom_need_not_be_whole(level: float, df: float, expected: float) -> None:
    assert t_critical(level, df) == pytest.approx(expected, rel=1e-10)


@given(level=st.floats(1e-6, 1 - 1e-9), df=st.integers(1, 2_000))
def test_the_t_critical_value_falls_with_the_degrees_of_freedom_and_stays_above_the_normal_one(
    level: float, df: int
) -> None:
    assert t_critical(level, df) >= t_critical(level, df + 1) * (1 - 1e-10)
    assert t_critical(level, df) >= z_critical(level) * (1 - 1e-10)


@pytest.mark.parametrize("level", [1e-300, 1e-17, 1 - 2**-53])
@pytest.mark.parametrize("df", [1, 1.5, 40, 999, 1e6])
def test_levels_at_the_ends_of_floats_have_a_value(level: float, df: float) -> None:
    assert 0.0 <= t_critical(level, df) < math.inf


@pytest.mark.parametrize("level", [0.0, 1.0, -0.5, 95.0, float("nan")])
def test_a_level_that_is_no_probability_is_refused(level: float) -> None:
    with pytest.raises(ValueError, match="strictly between 0 and 1"):
        z_critical(level)
    with pytest.raises(ValueError, match="strictly between 0 and 1"):
        t_critical(level, 5)


def test_zero_degrees_of_freedom_are_refused() -> None:
    with pytest.raises(ValueError, match="at least 1 degree of freedom"):
        t_critical(0.95, 0)
