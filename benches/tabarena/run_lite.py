"""Run TabArena-Lite with the adapter, as a pull request to TabArena has to; needs a network.

    python -m benches.tabarena.run_lite [--configs 25] [--datasets anneal] [--folder tabarena_lite]

The first split of every data set, the default and so many random configurations, bags of eight
folds and an hour each, by the protocol that TabArena sets. Data are downloaded from OpenML, results
of other methods from TabArena. Regression is left out, since the model has none.
"""

import argparse
from pathlib import Path


def build(n_configs):
    """Return the experiments, by TabArena's own bundle."""
    from tabarena.benchmark.experiment import TabArenaV0pt1ExperimentBundle

    from benches.tabarena.hpo import gen_aucrank

    return TabArenaV0pt1ExperimentBundle(models=[(gen_aucrank, n_configs)]).build_experiments()


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--configs", type=int, default=25, help="random configurations")
    parser.add_argument("--datasets", nargs="+", help="only these")
    parser.add_argument("--folder", type=Path, default=Path("tabarena_lite"))
    options = parser.parse_args()
    from tabarena.contexts import TabArenaContext

    context = TabArenaContext()
    context.build_and_run_jobs(
        build(options.configs),
        expname=str(options.folder.resolve()),
        subset=["lite", "classification"],
        build_kwargs={"dataset_names": options.datasets} if options.datasets else None,
        new_result_prefix="[New] ",
    )
    table = context.compare(output_dir=options.folder / "leaderboard")
    print(context.leaderboard_to_website_format(leaderboard=table).to_markdown(index=False))


if __name__ == "__main__":
    main()
