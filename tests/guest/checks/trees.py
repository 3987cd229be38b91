# SPDX-License-Identifier: GPL-2.0-or-later
"""Whole trees: compared with the host, copied in and out."""
import os

import manifest
import tree
from check import check, Failure, Skip, true, sh

# Some 600 entries of every kind; a huge hole and a socket are nothing
# that archives carry well
SMALL = '''mkdir src
cp -a "$TREE/odd" src/odd
rm src/odd/sparse src/odd/socket
mkdir src/many
cp -a "$TREE"/many/000[1-9] src/many/
cd "$TREE"
find system -type f | sort | awk 'NR % 60 == 0' > "$OLDPWD/list"
tar -cf - -T "$OLDPWD/list" | tar -xf - -C "$OLDPWD/src"
rm "$OLDPWD/list"'''


def same(got, expected, what):
    """Both manifests must have the same lines."""
    if got == expected:
        return
    missing = sorted(set(expected) - set(got))
    extra = sorted(set(got) - set(expected))
    raise Failure(f'{what}: {len(expected)} entries expected, {len(got)} got,'
                  f' {len(missing)} differ\n' +
                  '\n'.join(f'expected {text[:150]}' for text in missing[:4]) +
                  '\n' + '\n'.join(f'got {text[:150]}' for text in extra[:4]))


def on_host(place, name):
    """The manifest of a directory, as the host sees it."""
    if place.local:
        return manifest.entries(place.path(name))
    text = place.host(f'python3 "$INSIDE/manifest.py" {name}')
    return text.splitlines()


def whole_seconds(lines):
    """Manifest lines with times cut, as Linux's 9p client sets them."""
    cut = []
    for text in lines:
        fields = text.split(' ')
        at = next(i for i in range(1, len(fields))
                  if fields[i - 1].isdigit() and fields[i].isdigit() and
                  len(fields[i]) > 9)
        fields[at] = fields[at][:-9]
        cut.append(' '.join(fields))
    return cut


def small_tree(place):
    """Have the host (or, locally, this guest) make src/."""
    if place.local:
        os.environ['TREE'] = '/scratch/tree'
        tree.make('/scratch/tree', 2500)
    place.host(SMALL)


@check(timeout=900, share_of=4)
def compare(place):
    """20 000 files are here as they are on the host, to the last byte."""
    if place.local:
        raise Skip('nothing to mount or compare with')
    place.host('cp -al "$TREE" tree')
    expected = on_host(place, 'tree')
    true(len(expected) >= 20000, f'{len(expected)} entries are enough')
    got = manifest.entries(place.path('tree'))
    same(got, expected, 'the tree')


@check(timeout=300, share_of=2)
def compare_small(place):
    """Hundreds of files of every kind are here as they are on the host."""
    small_tree(place)
    same(manifest.entries(place.path('src')), on_host(place, 'src'),
         'the tree')


@check(timeout=300, share_of=2)
def tar_out_and_in(place):
    """tar takes a tree off the share and brings it back unchanged."""
    small_tree(place)
    sh(place, '''tar -cf /tmp/t.tar -C src .
        mkdir back && tar -xpf /tmp/t.tar -C back
        rm /tmp/t.tar''')
    same(whole_seconds(on_host(place, 'back')),
         whole_seconds(on_host(place, 'src')), 'the tree unpacked')


@check(timeout=300, share_of=2)
def rsync_in_and_out(place):
    """rsync copies a tree out and in, and then finds nothing to do."""
    small_tree(place)
    again = sh(place, '''rsync -aH --delete src/ /tmp/rsync/
        rsync -aH --delete /tmp/rsync/ back/
        rsync -aHni --delete --checksum --modify-window=1 /tmp/rsync/ back/
        rm -rf /tmp/rsync''')
    true(again.strip() == '', f'a second rsync finds nothing: {again[:300]}')
    same(whole_seconds(on_host(place, 'back')),
         whole_seconds(on_host(place, 'src')), 'the tree copied')


@check(timeout=300, share_of=2)
def copy_and_remove(place):
    """cp -a within the share, diff, mv, rm -r leave nothing behind."""
    small_tree(place)
    sh(place, '''cp -a src copy
        diff -r --no-dereference src/many copy/many
        mv copy moved
        test "$(find moved | wc -l)" = "$(find src | wc -l)"
        rm -r moved''')
    true(place.host('ls -A').strip() == 'src', 'only src is left')
