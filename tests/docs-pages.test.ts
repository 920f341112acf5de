import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { describe, test } from 'node:test';
import { catalogue } from '../src/catalogue.ts';
import { addPerson, openBrowser } from './support/browser.ts';
import { testChromium } from './support/chromium.ts';
import { withSettings } from './support/with-settings.ts';

withSettings('reference pages of the listener', {}, app => {
  const browser = testChromium();
  const url = (path: string) => app().url.dashboard + path;

  test('the landing page leads to the reference', async () => {
    const landing = await (await fetch(url('/'))).text();
    const [, path] = /<a href="([^"]+)">Reference<\/a>/.exec(landing)!;
    const response = await fetch(url(path!));
    assert.equal(new URL(response.url).pathname, '/docs');
    assert.match(await response.text(), /<h1>Gatewright API<\/h1>/);
  });

  test('every operation of the listener has a page', async () => {
    const served = catalogue.filter(({ surface }) => surface !== 'portal');
    for (const { name } of served) {
      const response = await fetch(url(`/docs/${name}`));
      assert.equal(response.status, 200, name);
      assert.ok((await response.text()).includes(`<h1>${name}</h1>`), name);
    }
  });

  test('a page that does not exist is 404', async () => {
    assert.equal((await fetch(url('/docs/unknown'))).status, 404);
    assert.equal((await fetch(url('/docs/%3Cscript%3E'))).status, 404);
  });

  describe('in a browser', () => {
    test('a request is sent from the page and its response displayed', async () => {
      const { page, errors } = await browser.open(url('/docs/listUsers'));
      await page.getByLabel('Credential').fill(app().credentials.admin_access_key);
      await page.getByRole('button', { name: 'Send' }).click();
      await page.getByText(/^200 OK, \d+ ms$/).waitFor();
      assert.match((await page.locator('.result pre').textContent()) ?? '', /"users": \[/);
      assert.deepEqual(errors, []);
    });

    test('a refusal is displayed with its message', async () => {
      const { page } = await browser.open(url('/docs/createUser'));
      await page.getByLabel('Credential').fill(app().credentials.admin_access_key);
      await page.getByLabel('Body').fill('{"email_adress":"a@example.org"}');
      await page.getByRole('button', { name: 'Send' }).click();
      await page.getByText(/^400 /).waitFor();
      assert.match((await page.locator('.result pre').textContent()) ?? '', /email_adress.*email_address/s);
    });

    test('a session without sign-in cannot write, and the page displays what is missing', async () => {
      const { page } = await browser.open(url('/docs/createUser'));
      await page.getByRole('button', { name: 'Send' }).click();
      await page.getByText('No response: enter a credential, or sign in first').waitFor();
    });

    test('the reference needs no other host: its pages load from the listener alone', async () => {
      const { page, errors } = await browser.open('about:blank');
      const hosts = new Set<string>();
      page.on('request', request => hosts.add(new URL(request.url()).origin));
      for (const path of ['/docs', '/docs?q=users', '/docs/createUser', '/docs/importDocument', '/openapi.json']) {
        const response = await page.goto(url(path), { waitUntil: 'networkidle' });
        assert.equal(response!.status(), 200, path);
        const policy = response!.headers()['content-security-policy'] ?? "default-src 'none'";
        assert.doesNotMatch(policy, /https?:|\*/, path);
      }
      assert.deepEqual([[...hosts], errors], [[app().url.dashboard], []]);
    });

    test('the search works without scripts', async () => {
      const { page } = await browser.open(url('/docs'), { javaScriptEnabled: false });
      await page.getByRole('searchbox').fill('email_address users');
      await page.keyboard.press('Enter');
      await page.getByRole('heading', { name: /operations? for “email_address users”/ }).waitFor();
    });

    test('the key / leads to the search', async () => {
      const { page, errors } = await browser.open(url('/docs'));
      await page.keyboard.press('/');
      await page.keyboard.type('email_address users');
      await page.keyboard.press('Enter');
      await page.getByRole('heading', { name: /operations? for “email_address users”/ }).waitFor();
      await page
        .locator('main')
        .getByRole('link', { name: /^POST\s*\/api\/users$/ })
        .click();
      await page.getByRole('heading', { name: 'createUser' }).waitFor();
      assert.deepEqual(errors, []);
    });
  });

  describe('landing page', () => {
    const page = async (address: string, init?: RequestInit) => {
      const response = await fetch(address, init);
      return { response, text: await response.text() };
    };

    test('it links to pages of its own listener that exist, and loads nothing from elsewhere', async () => {
      for (const listener of [app().url.dashboard, app().url.portal]) {
        const { response, text } = await page(`${listener}/pages/start`);
        assert.equal(response.status, 200);
        assert.equal(response.headers.get('content-type'), 'text/html; charset=utf-8');
        const policy = response.headers.get('content-security-policy')!;
        assert.match(policy, /^default-src 'none';.*frame-ancestors 'none'; base-uri 'none'$/);
        assert.doesNotMatch(policy, /unsafe|\*|https?:/);
        assert.doesNotMatch(text, /<style|<script>| style=| on[a-z]+=|src="http/);
        const paths = [...text.matchAll(/(?:href|src)="(\/[^"]*)"/g)].map(([, path]) => path!);
        assert.ok(paths.includes('/guides/deploying') && paths.includes('/openapi.json'));
        for (const path of new Set(paths)) {
          const { status } = await fetch(listener + path);
          assert.equal(status, path === '/metrics' ? 401 : 200, listener + path);
        }
      }
    });

    test('it names the listeners, that of the portal not the dashboard, and contains no credential', async () => {
      const { text } = await page(url('/'));
      for (const address of [app().url.portal, app().url.gateway])
        assert.ok(text.includes(`href="${address}"`), address);
      const { text: portal } = await page(`${app().url.portal}/pages/start`);
      assert.ok(portal.includes(`href="${app().url.gateway}"`) && !portal.includes(new URL(app().url.dashboard).port));
      for (const secret of Object.values(app().credentials)) assert.ok(!(text + portal).includes(secret));
    });

    test('its first steps run as they are displayed', async () => {
      const { admin_access_key: ACCESS_KEY, portal_token: PORTAL_TOKEN } = app().credentials;
      const run = async (address: string) => {
        const { text } = await page(`${address}/pages/start`);
        const commands = [...text.matchAll(/<pre[^>]*><code>(.*?)<\/code>/gs)].map(([, code]) => unescapeMarkup(code!));
        assert.ok(commands.length > 0);
        const { stdout, status, stderr } = await runShell(`set -e\n${commands.join('\n')}`, {
          ACCESS_KEY,
          PORTAL_TOKEN,
        });
        assert.equal(status, 0, stderr);
        return stdout;
      };
      assert.match(await run(app().url.dashboard), /"API created".*"status":"pass".*"API deleted"/s);
      assert.match(await run(app().url.portal), /Public Catalogue/);
    });

    test('HEAD has the headers of GET and no body', async () => {
      const { response, text } = await page(url('/'), { method: 'HEAD' });
      assert.deepEqual([response.status, text], [200, '']);
      assert.match(response.headers.get('content-security-policy')!, /script-src 'self'/);
    });

    test('guides are served as text, and nothing else of the directory or above it', async () => {
      const { response, text } = await page(url('/guides/deploying.md'));
      assert.equal(response.headers.get('content-type'), 'text/plain; charset=utf-8');
      assert.match(text, /^# Deploying/);
      for (const name of ['..%2F..%2Fpackage.json', 'unknown', '%252e%252e', 'deploying.md.md'])
        assert.equal((await fetch(url(`/guides/${name}`))).status, 404, name);
    });

    test('an unknown path is a page for browsers and an error object for other clients', async () => {
      const html = await page(url('/nowhere/<x>'), {
        headers: { accept: 'text/html,application/xhtml+xml,*/*;q=0.8' },
      });
      assert.equal(html.response.status, 404);
      assert.match(html.text, /<h1>Page not found<\/h1>.*<code>\/nowhere\/%3Cx%3E<\/code>/s);
      assert.match(html.response.headers.get('content-security-policy')!, /^default-src 'none'/);
      for (const headers of [{}, { accept: 'application/json' }] as Record<string, string>[]) {
        const { response, text } = await page(url('/nowhere'), { headers });
        assert.equal(response.status, 404);
        assert.equal(response.headers.get('vary'), 'Accept');
        const expected = { Status: 'Error', Message: 'There is no operation GET /nowhere', Meta: null };
        assert.deepEqual(JSON.parse(text), expected);
      }
      const portal = await page(`${app().url.portal}/nowhere`);
      assert.deepEqual(JSON.parse(portal.text), { status: 'error', errors: ['There is no operation GET /nowhere'] });
      const api = await page(url('/api/nowhere'), { headers: { accept: 'text/html' } });
      assert.equal(api.response.status, 401);
    });

    test('it displays the session of the browser', async () => {
      const { page: landing, errors } = await browser.open(url('/'));
      await landing.getByText('No session in this browser').waitFor();
      const person = openBrowser(app());
      const { username, password } = await addPerson(app());
      assert.equal((await person.signIn({ username, password })).status, 200);
      const [name, value] = person.cookie.split('=') as [string, string];
      await landing.context().addCookies([{ name, value, url: `${url('/')}api` }]);
      await landing.reload();
      await landing.getByText(`Signed in as ${username}.`).waitFor();
      // Chromium reports the 401 of the first read itself.
      assert.deepEqual(
        errors.filter(it => !it.includes('401')),
        [],
      );
    });

    for (const width of [360, 1200])
      test(`it fits a screen of ${width} pixels, in both colour schemes, with links in reach of the keyboard`, async () => {
        const { page: landing } = await browser.open(url('/'));
        await landing.setViewportSize({ width, height: 800 });
        const colours = [];
        for (const colorScheme of ['light', 'dark'] as const) {
          await landing.emulateMedia({ colorScheme });
          const [scrollWidth, colour] = (await landing.evaluate(
            '[document.documentElement.scrollWidth, getComputedStyle(document.body).backgroundColor]',
          )) as [number, string];
          assert.ok(scrollWidth <= width, `${scrollWidth} wide`);
          colours.push(colour);
        }
        assert.notEqual(colours[0], colours[1]);
        await landing.keyboard.press('Tab');
        assert.equal(await landing.evaluate('document.activeElement.textContent'), 'Skip to content');
      });
  });
});

const unescapeMarkup = (text: string) =>
  text.replaceAll(
    /&(amp|lt|gt|#39|#34);/g,
    (_whole, name: string) => ({ amp: '&', lt: '<', gt: '>', '#39': "'", '#34': '"' })[name]!,
  );

/** Without blocking this process, which serves the requests. */
const runShell = (script: string, environment: Readonly<Record<string, string>>) =>
  new Promise<{ status: number; stdout: string; stderr: string }>(resolve =>
    execFile('bash', ['-c', script], { env: { ...process.env, ...environment } }, (error, stdout, stderr) =>
      resolve({ status: error ? Number(error.code ?? 1) : 0, stdout, stderr }),
    ),
  );
