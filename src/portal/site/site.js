/* Enhancement of pages that work without it: copy buttons, calls of the reference, the search shortcut, the menu. */

const enableCopy = button => {
  button.hidden = false;
  button.addEventListener('click', async () => {
    await navigator.clipboard.writeText(button.dataset.copy);
    const text = button.textContent;
    button.textContent = 'Copied';
    setTimeout(() => {
      button.textContent = text;
    }, 2000);
  });
};
for (const button of document.querySelectorAll('[data-copy]')) enableCopy(button);

/* A key that can be shown again does not stay on the screen. */
for (const secret of document.querySelectorAll('[data-hide-seconds]'))
  setTimeout(() => secret.remove(), Number(secret.dataset.hideSeconds) * 1000);

/* Insert my key: replaces the placeholder in the samples. A text that no key can be could end a literal of a sample. */
const keyPlaceholder = '$API_KEY';
const keyPattern = /^[\w.~+/=-]{1,4096}$/;
for (const place of document.querySelectorAll('[data-insert-key]')) {
  const [tick, key] = place.querySelectorAll('input');
  const samples = [...place.parentElement.querySelectorAll('details')].map(it => {
    const [code, copy] = [it.querySelector('code'), it.querySelector('[data-copy]')];
    return { code, copy, text: copy.dataset.copy };
  });
  const insert = () => {
    key.parentElement.hidden = !tick.checked;
    const value = tick.checked && keyPattern.test(key.value) ? key.value : keyPlaceholder;
    for (const { code, copy, text } of samples) {
      code.textContent = text.replaceAll(keyPlaceholder, () => value);
      copy.dataset.copy = code.textContent;
    }
  };
  tick.addEventListener('change', () => {
    if (!tick.checked) key.value = '';
    insert();
  });
  key.addEventListener('input', insert);
  place.hidden = false;
}

/* Creates an element; children are elements or text, which is never parsed as markup. */
const create = (name, attributes, ...children) => {
  const element = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
  element.append(...children);
  return element;
};
const createCode = text => create('pre', { class: 'code', tabindex: '0' }, create('code', {}, text));
const createMessage = text => create('p', { class: 'message errors', role: 'alert' }, text);

const listResult = ({ status, statusText, tookMs, explanation, headers, body, limit, curl }) => {
  const copy = create('button', { class: 'copy quiet', type: 'button', 'data-copy': curl }, 'Copy as cURL');
  enableCopy(copy);
  return [
    create(
      'p',
      { class: 'status' },
      create('strong', {}, `${status} ${statusText}`),
      create('span', { class: 'dim' }, ` ${tookMs} ms`),
    ),
    ...(explanation ? [create('p', { class: 'message' }, explanation)] : []),
    ...(limit
      ? [
          create(
            'p',
            {},
            create(
              'label',
              {},
              `${limit.left} of ${limit.max} calls left `,
              create('meter', { min: '0', max: limit.max, value: limit.left }),
            ),
          ),
        ]
      : []),
    createCode(body),
    create(
      'details',
      {},
      create('summary', {}, 'Response headers'),
      createCode(headers.map(([name, value]) => `${name}: ${value}\n`).join('')),
    ),
    copy,
  ];
};

/* Sign-in for a token: in a window of its own, which reports its end. Pages of providers cut `opener`. */
const signInWindow = 'try-sign-in';
const signInChannel = new BroadcastChannel(signInWindow);
const openSignIn = button => {
  if (open('about:blank', signInWindow, 'popup,width=520,height=720')) button.formTarget = signInWindow;
};
const signedIn = document.querySelector('[data-signed-in]');
if (signedIn) {
  signInChannel.postMessage(signedIn.textContent);
  close();
}

/* Calls of the reference: the result appears below the form. */
for (const form of document.querySelectorAll('form[data-try]')) {
  signInChannel.addEventListener('message', ({ data }) =>
    form.parentElement.querySelector('.try-result').replaceChildren(create('p', { class: 'message' }, data)),
  );
  form.addEventListener('submit', async event => {
    if (event.submitter?.dataset.trySignIn !== undefined) return openSignIn(event.submitter);
    event.preventDefault();
    const fields = new URLSearchParams(new FormData(form));
    fields.set('format', 'json');
    const button = form.querySelector('button');
    const place = form.parentElement.querySelector('.try-result');
    button.disabled = true;
    try {
      const response = await fetch(form.action, { method: 'POST', body: fields });
      const isResult = response.headers.get('content-type')?.startsWith('application/json');
      const { error, result } = isResult ? await response.json() : { error: 'Load this page again and repeat.' };
      place.replaceChildren(...(result ? listResult(result) : [createMessage(error)]));
    } catch {
      place.replaceChildren(createMessage('The portal does not respond: try again.'));
    } finally {
      button.disabled = false;
    }
  });
}

/* Fills a text field from a file of the visitor, which is not sent itself. */
const maxFillBytes = 65536;
for (const input of document.querySelectorAll('input[data-fills]')) {
  input.parentElement.hidden = false;
  input.addEventListener('change', async () => {
    const [file] = input.files;
    const isFitting = file && file.size <= maxFillBytes;
    input.setCustomValidity(file && !isFitting ? 'The file is too large for a certificate.' : '');
    if (isFitting) input.form.elements[input.dataset.fills].value = await file.text();
    else input.reportValidity();
  });
}

const isTyping = target => target instanceof Element && target.closest('input, textarea, select') !== null;

document.addEventListener('keydown', event => {
  if (event.key === 'Escape') for (const menu of document.querySelectorAll('details.menu[open]')) menu.open = false;
  if (event.key !== '/' || isTyping(event.target) || event.ctrlKey || event.metaKey || event.altKey) return;
  event.preventDefault();
  document.querySelector('[data-page-search]')?.focus();
});
document.addEventListener('click', event => {
  for (const menu of document.querySelectorAll('details.menu[open]'))
    if (!menu.contains(event.target)) menu.open = false;
});
