# SPDX-License-Identifier: GPL-2.0-or-later
"""Which checks run on which mount of which security model.

Nothing is run here.
"""
import glob
import importlib
import os
import sys

HERE = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
MODELS = ('passthrough', 'none', 'mapped-xattr', 'mapped-file')
# The first and third differ in all, as do the second and fourth
MOUNTS = (
    ('none-512k', 'none', 512000, 'share'),
    ('none-8k', 'none', 8192, 'share'),
    ('loose-8k', 'loose', 8192, 'share'),
    ('loose-512k', 'loose', 512000, 'share'),
    ('mmap-512k', 'mmap', 512000, 'share'),
    ('readonly', 'none', 512000, 'readonly'))
LOCAL_MOUNTS = (
    ('ext4', 'local', 512000, 'share'),
    ('readonly', 'local', 512000, 'readonly'))


def load_checks():
    """Import every module of checks; the registry of them."""
    sys.path[:0] = [HERE, os.path.join(HERE, 'inside')]
    for path in sorted(glob.glob(os.path.join(HERE, 'checks', '*.py'))):
        name = os.path.basename(path)[:-3]
        importlib.import_module('checks.' + name)
    return importlib.import_module('check').REGISTRY


def mounts(model, options):
    """The settings of every mount of one model's guest."""
    result = []
    table = LOCAL_MOUNTS if options.local else MOUNTS
    for number, (name, cache, msize, where) in enumerate(table):
        result.append({
            'mount': name, 'tag': name, 'cache': cache, 'msize': msize,
            'where': where, 'model': model, 'local': options.local,
            'root': f'/mnt/{name}', 'backing': f'/scratch/{name}',
            'number': number, 'seed': options.seed, 'slow': options.slow})
    return result


def fits(needs, settings, options):
    """Whether a check is meant for a mount in this run."""
    if needs['where'] != settings['where']:
        return False
    if needs['slow'] and not options.slow:
        return False
    if needs['privileged'] and not settings['privileged']:
        return False
    if settings['local']:
        return True
    if options.quick and settings['mount'] not in ('none-512k', 'readonly'):
        return False
    if needs['msizes'] and settings['msize'] not in needs['msizes']:
        return False
    if settings['cache'] not in needs['caches']:
        return False
    return options.quick or options.slow or mine(needs, settings)


def mine(needs, settings):
    """Whether a check that is not for all mounts is for this one."""
    if settings['cache'] == 'mmap':
        return True
    number = MODELS.index(settings['model'])
    if needs['share_of'] == 4:
        return settings['number'] == number % 2 * 2
    return (settings['number'] + number) % needs['share_of'] == 0


def plan(registry, settings_list, options):
    """(title, check's name, settings) of all that is to run in one guest."""
    result = []
    for settings in settings_list:
        for name, function in registry.items():
            model = 'local' if settings['local'] else settings['model']
            title = f'{model}/{settings["mount"]} {name}'
            if fits(function.needs, settings, options) and \
                    (not options.only or options.only.search(title)):
                result.append((title, name, settings))
    return result
