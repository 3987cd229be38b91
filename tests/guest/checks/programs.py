# SPDX-License-Identifier: GPL-2.0-or-later
"""Programs that people run on shares: git, gcc, make, SQLite, fio."""
import sqlite3
import os

from check import check, content, equal, sh, true, Failure

GIT = '''export HOME=$PWD GIT_CONFIG_NOSYSTEM=1
git config --global user.email a@example.org
git config --global user.name A
git config --global init.defaultBranch main
git config --global safe.directory '*'
git config --global gc.autoDetach false
'''


@check(timeout=400, share_of=2)
def git(place):
    """git init, commit, clone, status, branch, merge, fsck and gc work."""
    sh(place, GIT + '''git init -q repo && cd repo
    for i in $(seq 40); do mkdir -p d$((i % 5)); seq $i 200 > d$((i % 5))/f$i
    done
    git add . && git commit -q -m one
    for i in $(seq 5); do
        echo change $i >> d$((i % 5))/f$i; git commit -q -a -m "change $i"
    done
    git checkout -q -b side HEAD~2
    echo side > side; git add side; git commit -q -m side
    git checkout -q main
    git merge -q -m merge side
    cd ..
    git clone -q repo copy
    cd copy
    test -z "$(git status --porcelain)"
    test "$(git rev-parse HEAD)" = "$(git -C ../repo rev-parse HEAD)"
    touch d1/f1; test -z "$(git status --porcelain)"
    echo more >> d2/f2; test "$(git status --porcelain)" = " M d2/f2"
    git stash -q; test -z "$(git status --porcelain)"; git stash pop -q
    git commit -q -a -m more
    git push -q origin HEAD:refs/heads/other
    git gc -q --prune=now
    git fsck --full --strict
    cd ../repo
    git gc -q --aggressive --prune=now
    git fsck --full --strict
    test "$(git log --oneline other | wc -l)" = 9''')
    true(place.host('cd repo && ls .git/objects/pack/*.pack').strip(),
         'there is a pack on the host')


@check(timeout=300, share_of=2)
def compile_and_make(place):
    """A C program is compiled in parts; make builds again what changed."""
    out = sh(place, r'''
    echo '#include <stdio.h>
    int number(void);
    int main(void) { printf("%d\n", number()); return 0; }' > main.c
    echo 'int number(void) { return 41; }' > number.c
    printf 'prog: main.o number.o\n\tgcc -o $@ $^\n' > Makefile
    printf '%%.o: %%.c\n\tgcc -c -o $@ $<\n' >> Makefile
    # The clocks of guest and host differ a little, of which make warns
    exec 2> /dev/null
    make -s && ./prog
    make -q
    sleep 2
    echo 'int number(void) { return 42; }' > number.c
    make | tr '\n' ' '
    ./prog
    ar rc lib.a number.o && gcc -o prog2 main.c lib.a && ./prog2''')
    equal(out, '41\ngcc -c -o number.o number.c gcc -o prog main.o number.o '
          '42\n42\n', 'output')


def write_rows(path, first, count):
    """Insert rows, each in a transaction of its own."""
    base = sqlite3.connect(path, timeout=60, isolation_level=None)
    for number in range(first, first + count):
        base.execute('INSERT INTO t VALUES (?, ?)', (number, 'x' * 500))
    base.close()


def rows_by_two(path):
    """Have two processes insert rows at the same time."""
    child = os.fork()
    if not child:
        status = 1
        try:
            write_rows(path, 100, 12)
            status = 0
        finally:
            os._exit(status)
    write_rows(path, 200, 12)
    equal(os.waitpid(child, 0)[1], 0, 'status of the second process')


def whole(place, path, rows):
    """The data base must have its rows and be whole."""
    place.remount()
    base = sqlite3.connect(path, timeout=60)
    equal(base.execute('SELECT count(*) FROM t').fetchone(), (rows,), 'rows')
    equal(base.execute('PRAGMA integrity_check').fetchone(), ('ok',),
          'integrity check')
    base.close()


@check(timeout=300, share_of=2)
def sqlite_rollback(place):
    """SQLite with a rollback journal: commit, rollback, two processes."""
    path = place.path('base')
    base = sqlite3.connect(path, isolation_level=None)
    equal(base.execute('PRAGMA journal_mode=DELETE').fetchone(),
          ('delete',), 'journal mode')
    base.execute('CREATE TABLE t (a INTEGER PRIMARY KEY, b TEXT)')
    base.execute('BEGIN')
    base.executemany('INSERT INTO t VALUES (?, ?)',
                     ((n, 'y' * 300) for n in range(50)))
    base.execute('COMMIT')
    base.execute('BEGIN')
    base.execute('DELETE FROM t')
    base.execute('ROLLBACK')
    base.close()
    rows_by_two(path)
    whole(place, path, 74)
    equal(sorted(os.listdir(place.dir)), ['base'], 'names')


@check(timeout=300, share_of=2)
def sqlite_wal(place):
    """SQLite with a write-ahead log; shared where maps can be shared."""
    path = place.path('base')
    base = sqlite3.connect(path, isolation_level=None)
    if not place.shared_maps():
        base.execute('PRAGMA locking_mode=EXCLUSIVE')
    equal(base.execute('PRAGMA journal_mode=WAL').fetchone(), ('wal',),
          'journal mode')
    base.execute('CREATE TABLE t (a INTEGER PRIMARY KEY, b TEXT)')
    for number in range(50):
        base.execute('INSERT INTO t VALUES (?, ?)', (number, 'y' * 300))
    rows = 50
    if place.shared_maps():
        other = sqlite3.connect(path, timeout=60)
        equal(other.execute('SELECT count(*) FROM t').fetchone(), (50,),
              'rows seen by a second connection')
        other.close()
        rows_by_two(path)
        rows += 24
    equal(base.execute('PRAGMA wal_checkpoint(TRUNCATE)').fetchone()[0], 0,
          'checkpoint')
    base.execute('DELETE FROM t WHERE a < 10')
    base.close()
    if not place.shared_maps():
        base = sqlite3.connect(path, isolation_level=None)
        base.execute('PRAGMA locking_mode=EXCLUSIVE')
        base.execute('PRAGMA journal_mode=DELETE')
        base.close()
    whole(place, path, rows - 10)


@check(timeout=300, share_of=2)
def fio(place):
    """fio writes at random and finds each block's checksum again."""
    engines = ['psync', 'pvsync2'] + \
        (['mmap'] if place.shared_maps() else [])
    for engine in engines:
        sh(place, f'''fio --name=t --filename=data-{engine} --size=4m \
            --ioengine={engine} --rw=randrw --bsrange=1k-64k --bs_unaligned \
            --verify=crc32c --verify_fatal=1 --do_verify=1 \
            --randseed={place.seed} --fallocate=none --output=/tmp/fio''')


@check(share_of=2)
def shell_work(place):
    """Redirections, sed -i, sort, dd, truncate, find and flock(1)."""
    out = sh(place, '''seq 100 > a; sort -rn a -o a; head -n 1 a
    sed -i s/^100$/hundred/ a; head -n 1 a
    echo more >> a; tail -n 1 a
    dd if=/dev/zero of=b bs=1000 count=70 status=none; wc -c < b
    dd if=a of=b conv=notrunc status=none; cmp -n 100 a b
    truncate -s 12345 b; stat -c %s b
    cp --sparse=always b c; cmp b c
    mkdir -p x/y/z; touch x/y/z/f; find . -name f
    flock lock sh -c 'echo locked'
    ln -s a l; cat l | wc -l; rm l
    mv a x/; ls x | tr '\\n' ' '
    install -m 640 b x/i; stat -c %a x/i
    (cat < x/a; echo end) > d; tail -n 1 d''')
    equal(out, '100\nhundred\nmore\n70000\n12345\n./x/y/z/f\nlocked\n101\n'
          'a y 640\nend\n', 'output')


@check(share_of=2)
def save_as_editors_do(place):
    """Write aside, fsync, rename over, fsync the directory: 30 times."""
    path = place.file('f', b'')
    for number in range(30):
        data = f'version {number}\n'.encode() * 50
        fd = os.open(path + '~', os.O_CREAT | os.O_WRONLY | os.O_EXCL, 0o644)
        os.write(fd, data)
        os.fsync(fd)
        os.close(fd)
        os.rename(path + '~', path)
        folder = os.open(place.dir, os.O_RDONLY)
        os.fsync(folder)
        os.close(folder)
        if content(path) != data:
            raise Failure(f'version {number}: {content(path)[:50]!r}')
