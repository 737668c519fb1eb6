"""Expected values of pROC's own tests on its example data, aSAH."""

import pytest
from aucrank.metrics import auc_compare, auc_interval, partial_auc

pytestmark = pytest.mark.filterwarnings("error")


@pytest.mark.parametrize(
    ("marker", "auc", "variance"),
    [
        ("wfns", 0.823678861788618, 0.00146991470882363),
        ("ndka", 0.611957994579946, 0.0031908105493913),
        ("s100b", 0.731368563685637, 0.00266868245717244),
    ],
)
def test_areas_and_their_variances_equal_those_of_proc(asah, marker, auc, variance):
    found = auc_interval(asah["poor"], asah[marker])
    assert found.auc == pytest.approx(auc, abs=1e-14)
    assert found.standard_error**2 == pytest.approx(variance, abs=1e-16)


def test_an_interval_equals_that_of_proc(asah):
    found = auc_interval(asah["poor"], asah["ndka"], method="delong")
    assert (found.low, found.high) == pytest.approx((0.501244999271703, 0.722670989888189))


@pytest.mark.parametrize(
    ("first", "second", "z", "p_value", "low", "high"),
    [
        ("wfns", "s100b", 2.20898359144091, 0.0271757822291882, 0.01040617695648, 0.17421441924948),
        ("wfns", "ndka", 2.79777591868904, 0.00514557970691098, 0.06340117093399, 0.36004056348336),
        ("ndka", "s100b", -1.39077002573558, 0.164295175223054, -0.287691744634, 0.048870606422809),
    ],
)
def test_paired_tests_equal_those_of_proc(asah, first, second, z, p_value, low, high):
    found = auc_compare(asah["poor"], asah[first], asah[second], method="delong")
    assert found.z == pytest.approx(z, abs=1e-12)
    assert found.p_value == pytest.approx(p_value, abs=1e-13)
    assert (found.low, found.high) == pytest.approx((low, high), abs=1e-12)


@pytest.mark.parametrize(
    ("first", "second", "z"),
    [
        ("wfns", "s100b", 1.43490640926908),
        ("wfns", "ndka", 3.10125096778969),
        ("ndka", "s100b", -1.55995743389685),
    ],
)
def test_statistics_of_unpaired_tests_equal_those_of_proc(asah, first, second, z):
    found = auc_compare(asah["poor"], asah[first], asah[second], y_true_2=asah["poor"])
    assert found.z == pytest.approx(z, abs=1e-12)


@pytest.mark.parametrize(
    ("marker", "part", "area", "standardized"),
    [
        ("wfns", {"fpr": (0, 0.1)}, 0.0334417344173442, 0.649693339038653),
        ("wfns", {"fpr": (0.1, 0.2)}, 0.0598373983739837, 0.763749402199904),
        ("wfns", {"fpr": (0.5, 1)}, 0.488134475939354, 0.952537903757416),
        ("wfns", {"tpr": (0.9, 1)}, 0.0400999322493225, 0.68473648552275),
        ("wfns", {"tpr": (0.8, 0.9)}, 0.0609953703703703, 0.770561002178649),
        ("wfns", {"tpr": (0, 0.5)}, 0.483358739837398, 0.933434959349593),
        ("ndka", {"fpr": (0, 0.1)}, 0.0107046070460705, 0.530024247610897),
        ("ndka", {"fpr": (0.1, 0.2)}, 0.0277777777777778, 0.575163398692811),
        ("ndka", {"fpr": (0.5, 1)}, 0.416836043360434, 0.667344173441734),
        ("ndka", {"tpr": (0.8, 0.9)}, 0.0242547425474255, 0.554439662043679),
        ("ndka", {"tpr": (0, 0.5)}, 0.428523035230352, 0.714092140921409),
    ],
)
def test_partial_areas_equal_those_of_proc(asah, marker, part, area, standardized):
    y, score = asah["poor"], asah[marker]
    assert partial_auc(y, score, **part) == pytest.approx(area, abs=1e-14)
    assert partial_auc(y, score, **part, standardize=True) == pytest.approx(standardized, abs=1e-13)
