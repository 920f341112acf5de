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

/* Calls of the reference: the result appears below the form. */
for (const form of document.querySelectorAll('form[data-try]'))
  form.addEventListener('submit', async event => {
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
