"""Put a built site on the branch `gh-pages`, which has a folder for each version and one commit.

python docs/publish.py docs/_build/html main      # to dev/
python docs/publish.py docs/_build/html v0.2.0    # to 0.2.0/, and to stable/ if it is the latest

Until there is a release, stable/ is what dev/ is. One commit, since a history of builds would grow
by 30 MB with each of them. `--into FOLDER` leaves the site in a folder and pushes nothing.
"""

import argparse
import json
import os
import re
import shutil
import subprocess
import tempfile
from pathlib import Path

SITE = "https://aucrank.github.io/aucrank/"
BRANCH = "gh-pages"
TRIES = 5
START = f"""<!doctype html>
<meta charset="utf-8">
<title>aucrank</title>
<link rel="canonical" href="{SITE}stable/">
<meta http-equiv="refresh" content="0; url=stable/">
<a href="stable/">aucrank</a>
"""


def version_of(ref):
    """Return the folder of a branch or a tag."""
    return ref.removeprefix("v") if re.fullmatch(r"v\d+\.\d+\.\d+", ref) else "dev"


def replace(source, target):
    """Copy a folder without hidden files in place of another one."""
    shutil.rmtree(target, ignore_errors=True)
    shutil.copytree(source, target, ignore=shutil.ignore_patterns(".*"))


def versions(releases):
    """Return the entries of the menu of versions: the last release, dev, and earlier releases."""
    found = [(f"{release} (stable)", release, "stable") for release in releases[:1]]
    found += [(version, version, version) for version in ["dev", *releases[1:]]]
    return [
        {"name": name, "version": version, "url": f"{SITE}{folder}/"}
        for name, version, folder in found
    ]


def place(built, version, site):
    """Put a build into the site, and bring up to date what depends on the list of versions."""
    replace(built, site / version)
    releases = [path.name for path in site.glob("*.*.*") if path.is_dir()]
    releases.sort(key=lambda name: [int(part) for part in name.split(".")], reverse=True)
    replace(site / [*releases, "dev"][0], site / "stable")
    for folder in site.glob("*/_static"):
        (folder / "switcher.json").write_text(json.dumps(versions(releases), indent=1), "utf-8")
    for name in ("llms.txt", "sitemap.xml"):
        shutil.copy(site / "stable" / name, site / name)
    (site / "index.html").write_text(START, "utf-8")
    (site / ".nojekyll").touch()


def git(*arguments, **options):
    """Run git, and return what it prints."""
    run = subprocess.run(["git", *arguments], check=True, stdout=subprocess.PIPE, **options)
    return run.stdout.decode().strip()


def publish(built, version):
    """Add a build to the branch; fail if another one was pushed meanwhile."""
    old = git("ls-remote", "origin", f"refs/heads/{BRANCH}").partition("\t")[0]
    with tempfile.TemporaryDirectory() as folder:
        site = Path(folder, "site")
        site.mkdir()
        if old:
            git("fetch", "--depth=1", "origin", old)
            archive = subprocess.run(["git", "archive", old], check=True, stdout=subprocess.PIPE)
            subprocess.run(["tar", "--extract", "-C", site], check=True, input=archive.stdout)
        place(built, version, site)
        settings = {"GIT_INDEX_FILE": str(Path(folder, "index"))}
        for who in ("AUTHOR", "COMMITTER"):
            settings[f"GIT_{who}_NAME"] = "github-actions[bot]"
            settings[f"GIT_{who}_EMAIL"] = "github-actions[bot]@users.noreply.github.com"
        environment = os.environ | settings
        git("--work-tree", str(site), "add", "--all", "--force", str(site), env=environment)
        tree = git("write-tree", env=environment)
        commit = git("commit-tree", tree, "-m", f"Documentation of {version}", env=environment)
    git("push", f"--force-with-lease={BRANCH}:{old}", "origin", f"{commit}:refs/heads/{BRANCH}")


def main():
    """Publish a build, or leave the site in a folder."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("built", type=Path)
    parser.add_argument("ref")
    parser.add_argument("--into", type=Path, metavar="FOLDER")
    options = parser.parse_args()
    if options.into:
        options.into.mkdir(parents=True, exist_ok=True)
        place(options.built, version_of(options.ref), options.into)
        return
    for rest in reversed(range(TRIES)):
        try:
            publish(options.built, version_of(options.ref))
            return
        except subprocess.CalledProcessError:
            if not rest:
                raise


if __name__ == "__main__":
    main()
