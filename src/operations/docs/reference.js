/** Behaviour of the reference pages: the search key, and the form that sends an operation's request. */

const maxShownChars = 200_000;

document.addEventListener('keydown', event => {
  const isTyping = event.target instanceof Element && event.target.closest('input, textarea');
  if (event.key !== '/' || isTyping || event.ctrlKey || event.metaKey || event.altKey) return;
  event.preventDefault();
  document.querySelector('input[type=search]')?.focus();
});

const form = document.querySelector('form.try-it');
if (form) {
  form.hidden = false;
  form.addEventListener('submit', event => {
    event.preventDefault();
    const { method, path } = form.dataset;
    if (method === 'DELETE' && !confirm(`Send DELETE ${path}?`)) return;
    sendRequest().catch(error => showResult(`No response: ${error.message}`, ''));
  });
}

async function sendRequest() {
  const button = form.querySelector('button');
  button.disabled = true;
  showResult('Sending…', '');
  try {
    const { method, contentType } = form.dataset;
    const body = contentType === undefined ? undefined : form.elements.body.value;
    const started = performance.now();
    const response = await fetch(buildUrl(), { method, body, headers: await buildHeaders(), redirect: 'manual' });
    const text = await response.text();
    const tookMs = Math.round(performance.now() - started);
    const lines = [...response.headers].map(([name, value]) => `${name}: ${value}`);
    showResult(`${response.status} ${response.statusText}, ${tookMs} ms`, `${lines.join('\n')}\n\n${indentJson(text)}`);
  } finally {
    button.disabled = false;
  }
}

function buildUrl() {
  let path = form.dataset.path;
  const query = new URLSearchParams();
  for (const field of form.querySelectorAll('[data-in]')) {
    if (field.dataset.in === 'path') path = path.replace(`{${field.name}}`, encodeURIComponent(field.value));
    else if (field.dataset.in === 'query' && field.value !== '') query.append(field.name, field.value);
  }
  return query.size > 0 ? `${path}?${query}` : path;
}

async function buildHeaders() {
  const { method, session, credentialHeader, contentType } = form.dataset;
  const headers = {};
  for (const { name, value } of form.querySelectorAll('[data-in=header]')) if (value !== '') headers[name] = value;
  if (contentType !== undefined) headers['content-type'] = contentType;
  const credential = form.elements.credential?.value;
  if (credential) headers[credentialHeader] = credential;
  else if (session && method !== 'GET') headers['x-csrf-token'] = await readCsrfToken(session);
  return headers;
}

/** Writes of a browser session need the session's token. */
async function readCsrfToken(path) {
  const response = await fetch(path);
  if (!response.ok) throw new Error('enter a credential, or sign in first');
  return (await response.json()).csrf_token;
}

function indentJson(text) {
  const shown =
    text.length > maxShownChars ? `${text.slice(0, maxShownChars)}\n… ${text.length - maxShownChars} more` : text;
  try {
    return text.length > maxShownChars ? shown : JSON.stringify(JSON.parse(text), null, 2);
  } catch {
    return shown;
  }
}

/** As text only: a response is never markup of this page. */
function showResult(summary, details) {
  const status = document.createElement('p');
  status.className = 'status';
  status.textContent = summary;
  const output = document.createElement('pre');
  output.textContent = details;
  form.querySelector('.result').replaceChildren(status, ...(details ? [output] : []));
}
