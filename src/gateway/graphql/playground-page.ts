/** The playground: a page, its style and its script, without parts of other sites. */

export const writePlaygroundPage = (name: string, path: string): string => {
  const base = path.slice(path.lastIndexOf('/') + 1);
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>${name}: GraphQL playground</title>
<link rel="stylesheet" href="./${base}/playground.css">
</head>
<body data-path="${path}">
<header>
<h1>${name}</h1>
<button id="run" type="button">Run</button>
<button id="load" type="button">Load schema</button>
</header>
<main>
<section>
<label for="query">Operation</label><textarea id="query" spellcheck="false" rows="14">{ __typename }</textarea>
<label for="variables">Variables (JSON)</label><textarea id="variables" spellcheck="false" rows="4"></textarea>
<label for="headers">Headers (one per line, Name: value)</label>
<textarea id="headers" spellcheck="false" rows="3"></textarea>
</section>
<section><h2 id="status" role="status">Result</h2><pre id="result" tabindex="0"></pre></section>
<section><h2>Schema</h2><div id="schema">Not loaded.</div></section>
</main>
<script src="./${base}/playground.js" defer></script>
</body>
</html>
`;
};

export const playgroundStyle = `body { font: 15px/1.4 system-ui, sans-serif; margin: 0 }
header { display: flex; gap: 1rem; align-items: center; padding: .5rem 1rem; border-bottom: 1px solid #8886 }
h1 { font-size: 1.1rem; margin: 0; flex: 1 } h2 { font-size: 1rem; margin: .2rem 0 }
main { display: grid; grid-template-columns: repeat(auto-fit, minmax(20rem, 1fr)); gap: 1rem; padding: 1rem }
label { display: block; margin: .5rem 0 .2rem } textarea { width: 100%; box-sizing: border-box }
textarea, pre, code { font: 13px/1.5 ui-monospace, monospace } pre { white-space: pre-wrap; overflow-wrap: anywhere }
:root { color-scheme: light dark }
`;

export const playgroundScript = `'use strict';
const find = id => document.getElementById(id);
const pagePath = location.pathname.replace(/\\/$/, '');
const endpoint = pagePath.slice(0, -document.body.dataset.path.length) || '/';
const schemaQuery = [
  '{ __schema { types { kind name inputFields { name type { ...T } } enumValues { name }',
  'fields(includeDeprecated: true) { name type { ...T } args { name type { ...T } } } } } }',
  'fragment T on __Type { name kind ofType { name kind ofType { name kind ofType { name kind } } } }',
].join(' ');

function readHeaders() {
  const headers = { 'Content-Type': 'application/json', Accept: 'application/graphql-response+json, application/json' };
  for (const line of find('headers').value.split('\\n')) {
    const at = line.indexOf(':');
    if (at > 0) headers[line.slice(0, at).trim()] = line.slice(at + 1).trim();
  }
  return headers;
}

async function send(query, variables) {
  const body = JSON.stringify({ query, variables });
  const response = await fetch(endpoint, { method: 'POST', headers: readHeaders(), body });
  return { status: response.status, text: await response.text() };
}

function format(text) {
  try { return JSON.stringify(JSON.parse(text), null, 2); } catch { return text; }
}

async function run() {
  find('status').textContent = 'Result: waiting';
  try {
    const text = find('variables').value.trim();
    const { status, text: body } = await send(find('query').value, text === '' ? undefined : JSON.parse(text));
    find('status').textContent = 'Result: status ' + status;
    find('result').textContent = format(body);
  } catch (error) {
    find('status').textContent = 'Result: failed';
    find('result').textContent = String(error);
  }
}

function writeType(type) {
  if (type.kind === 'NON_NULL') return writeType(type.ofType) + '!';
  return type.kind === 'LIST' ? '[' + writeType(type.ofType) + ']' : type.name ?? '…';
}

function describeType(type) {
  const details = document.createElement('details');
  const title = details.appendChild(document.createElement('summary'));
  title.textContent = type.name;
  const list = details.appendChild(document.createElement('ul'));
  for (const field of [...(type.fields ?? []), ...(type.inputFields ?? []), ...(type.enumValues ?? [])]) {
    const args = (field.args ?? []).map(it => it.name + ': ' + writeType(it.type)).join(', ');
    const item = list.appendChild(document.createElement('li')).appendChild(document.createElement('code'));
    const type = field.type ? ': ' + writeType(field.type) : '';
    item.textContent = field.name + (args === '' ? '' : '(' + args + ')') + type;
  }
  return details;
}

async function loadSchema() {
  const place = find('schema');
  try {
    const { status, text } = await send(schemaQuery);
    const types = JSON.parse(text).data?.__schema.types;
    if (!types) throw new Error('status ' + status + ': ' + text);
    const shown = types.filter(it => !it.name.startsWith('__') && it.kind !== 'SCALAR');
    place.replaceChildren(...shown.map(describeType));
  } catch (error) {
    place.textContent = String(error);
  }
}

find('run').addEventListener('click', run);
find('load').addEventListener('click', loadSchema);
find('query').addEventListener('keydown', event => {
  if (event.key === 'Enter' && (event.ctrlKey || event.metaKey)) run();
});
`;
