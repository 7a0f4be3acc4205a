# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# For Documentation/htmldocs, which says where the kernel's source package is unpacked.
import glob
import os
import re
import subprocess
import sys

import markdown
from docutils import nodes
from docutils.parsers.rst import Directive

kernel = os.environ['CMX_KERNELDOC']
sys.path.insert(0, kernel + '/Documentation/sphinx')

project = 'rdma-cmx'
extensions = ['kerneldoc']
html_theme = 'alabaster'
html_copy_source = False
html_theme_options = {'page_width': '82em', 'body_max_width': '68em'}
html_static_path = ['html.css']
html_css_files = ['html.css']
exclude_patterns = ['man', 'examples']
highlight_language = 'none'
primary_domain = 'c'
# the kernel's types have no page here
nitpicky = False
c_id_attributes = ['__user', '__must_check', '__rcu', 'RDMA_CMX_FUNCTION']

kerneldoc_bin = kernel + '/scripts/kernel-doc'
kerneldoc_srctree = os.path.abspath('../build/htmldocs/.sources')
kerneldoc_verbosity = 1


def html(text):
    return nodes.raw('', text, format='html')


class Readme(Directive):
    """README.md without its title, with links to these pages."""
    def run(self):
        text = open('README.md').read().split('\n', 1)[1]
        text = markdown.markdown(text, extensions=['tables', 'toc'])
        text = re.sub(r'href="Documentation/(\w+)\.rst', r'href="\1.html', text)
        text = re.sub(r'<a href="selftests[^>]*>(.*?)</a>', r'\1', text)
        return [html(text.replace('<table>', '<table class="docutils">'))]


def man_files():
    return sorted(glob.glob('Documentation/man/*.[37]*') + ['tools/cmx.8'])


def man_names():
    return [os.path.basename(f) for f in man_files()]


class ManPages(Directive):
    """A section for each manual page, with links between them."""
    def run(self):
        return [self.page(f) for f in man_files()]

    def page(self, file):
        def link(match):
            target = f'{match[1]}.{match[2]}'
            return f'<a href="#{target}">{match[0]}</a>' if target in man_names() else match[0]

        name = os.path.basename(file)
        with open(file) as f:
            # mandoc loses empty lines of an example
            text = re.sub(r'(?<=\n)(?=\n)', '.sp', f.read())
        text = subprocess.run(['mandoc', '-Thtml', '-Ofragment'], input=text, check=True,
                              capture_output=True, text=True).stdout
        text = re.sub(r'<table class="(head|foot)">.*?</table>', '', text, flags=re.S)
        text = re.sub(r'<a class="permalink"[^>]*>(.*?)</a>', r'\1', text, flags=re.S)
        text = re.sub(r' id="[^"]*"', '', text).replace('\n<br/>\n', '\n')
        text = re.sub(r'(</?h)([12])\b', lambda m: f'{m[1]}{int(m[2]) + 2}', text)
        text = re.sub(r'<b>(\w+)</b>\((\d\w*)\)', link, text)
        title = '{}({})'.format(*name.split('.'))
        return nodes.section('', nodes.title('', title), html(text), ids=[name], names=[name])


def link_man_pages(app, doctree, docname):
    """Each NAME(3) of our manual pages becomes a link, except in literals and titles."""
    for node in list(doctree.findall(nodes.Text)):
        if isinstance(node.parent, (nodes.literal, nodes.title, nodes.reference, nodes.FixedTextElement)):
            continue
        parts = re.split(r'(\b\w+\(\d\w*\))', node.astext())
        if len(parts) == 1:
            continue
        new = []
        for part in parts:
            name = part.rstrip(')').replace('(', '.')
            if name in man_names():
                uri = app.builder.get_relative_uri(docname, 'manual') + '#' + name
                new.append(nodes.reference('', part, refuri=uri, internal=True))
            else:
                new.append(nodes.Text(part))
        node.parent.replace(node, new)


def setup(app):
    app.add_directive('readme', Readme)
    app.add_directive('manpages', ManPages)
    app.connect('doctree-resolved', link_man_pages)
