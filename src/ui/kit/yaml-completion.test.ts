import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { CompletionContext } from '@codemirror/autocomplete';
import { EditorState } from '@codemirror/state';
import type { CodeMember, CodeOutline } from './code-types.ts';
import { yamlSyntax } from './yaml-completion.ts';

const members: Readonly<Record<string, readonly string[]>> = {
  '': ['info', 'list'],
  info: ['title', 'enabled', 'state'],
  'list/0': ['name', 'kind'],
};
const values: Readonly<Record<string, readonly string[]>> = {
  'info/enabled': ['true', 'false'],
  'info/state': ['"true"', '"internal"'],
  'methods/0': ['"GET"', '"POST"'],
};
const toMember = (name: string): CodeMember => ({ name, type: 'string', about: `About ${name}` });
const outline: CodeOutline = {
  listMembers: path => (members[path.join('/')] ?? []).map(toMember),
  listValues: path => values[path.join('/')] ?? [],
};

/** Labels that are offered at `^`; undefined for none. */
function offer(marked: string, explicit = false): readonly string[] | undefined {
  const place = marked.indexOf('^');
  const state = EditorState.create({ doc: marked.replace('^', '') });
  const context = new CompletionContext(state, place, explicit);
  return yamlSyntax.outline.complete(context, outline)?.options.map(({ label }) => label);
}

describe('Completion in YAML', () => {
  test('a name offers the members of its object that are absent', () => {
    assert.deepEqual(offer('in^'), ['info', 'list']);
    assert.deepEqual(offer('info:\n  title: a\n  en^\nlist: []\n'), ['enabled', 'state']);
    assert.deepEqual(offer('info:\n  en^abled: true\n'), ['title', 'enabled', 'state']);
    assert.deepEqual(offer('list:\n  - name: a\n    k^\n'), ['kind']);
    assert.deepEqual(offer('list:\n  - k^\n'), ['name', 'kind']);
  });

  test('a value offers those of the schema, quoted where YAML would read another type', () => {
    assert.deepEqual(offer('info:\n  enabled: t^\n'), ['true', 'false']);
    assert.deepEqual(offer('info:\n  state: i^\n'), ['"true"', 'internal']);
    assert.deepEqual(offer('methods:\n  - G^\n'), ['GET', 'POST']);
    assert.deepEqual(offer('info:\n  enabled: ^\n', true), ['true', 'false']);
  });

  test('an empty place offers only on request, and text of a scalar never', () => {
    assert.equal(offer('info:\n  ^\n'), undefined);
    assert.deepEqual(offer('info:\n  ^\n', true), ['title', 'enabled', 'state']);
    assert.equal(offer('text: |\n  in^\n'), undefined);
    assert.equal(offer('# in^\n'), undefined);
    assert.equal(offer('info:\n  title: some words^\n'), undefined);
  });

  test('a name is found with the path of its object', () => {
    const state = EditorState.create({ doc: 'list:\n  - name: a\n    kind: b\n' });
    const at = state.doc.toString().indexOf('kind');
    assert.deepEqual(yamlSyntax.outline.findName(state, at + 1), {
      name: 'kind',
      from: at,
      to: at + 4,
      path: ['list', 0],
    });
    assert.equal(yamlSyntax.outline.findName(state, state.doc.length - 1), undefined);
  });
});
