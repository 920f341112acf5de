import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startPostgres } from '../tests/support/services/postgres.ts';
import { ensureBenchServices } from '../tools/services.ts';
import { costHeading, measureCosts, medianCpuMs, printCosts } from './costs.ts';
import { startGateway } from './gateway.ts';
import { measureThroughput } from './load.ts';

/**
 * Measures the developer portal of a large installation: pages of the site and of the management API, then many visitors
 * of the catalogue at once. The product has the first core to itself; the visitors have the second. A page beyond
 * `maxPageCpuMs` or a failed request ends it with exit code 1. `BENCH_SCALE=0.01` loads a hundredth of the objects.
 * `BENCH_DATABASE=postgres` starts PostgreSQL on the second core; its processor time is not counted.
 */
const productCores = '0';
const otherCores = '1';
const ports = { gateway: 18_280, dashboard: 18_281, portal: 18_282 };
const site = `http://127.0.0.1:${ports.portal}`;
const scale = Number(process.env.BENCH_SCALE ?? 1);
const visitorSeconds = Number(process.env.BENCH_SECONDS ?? 20);
const counts = {
  products: Math.ceil(10_000 * scale),
  users: Math.ceil(1000 * scale),
  apps: Math.ceil(100_000 * scale),
  visitors: Math.ceil(1000 * scale),
};
const repetitions = 15;
const requestsAtOnce = 20;
/** Bound of the processor time of one page of the site. */
const maxPageCpuMs = 20;
/** Two catalogues exist from the first start: every tenth product is for signed-in developers only. */
const [publicCatalogue, privateCatalogue] = [1, 2];
const password = 'correct horse battery staple';

const directory = mkdtempSync(join(tmpdir(), 'gw-bench-'));
await ensureBenchServices();
// This process is the load, and PostgreSQL inherits its cores.
execFileSync('taskset', ['-cp', otherCores, String(process.pid)]);
const postgres = process.env.BENCH_DATABASE === 'postgres' ? await startPostgres({ fsync: true }) : undefined;
const settings: Record<string, string> = postgres ? { GW_DATABASE_URL: (await postgres.database()).url } : {};
const product = await startGateway(join(directory, 'data'), ports, productCores, 1, settings);
const failures: string[] = [];
try {
  const developer = await load();
  await measurePages(await signIn(developer));
  await measureVisitors();
} finally {
  await product.stop();
  await postgres?.stop();
  rmSync(directory, { recursive: true, force: true });
}
for (const failure of failures) console.error(failure);
process.exitCode = failures.length > 0 ? 1 : 0;

/** Returns the e-mail address of a developer with apps. */
async function load(): Promise<string> {
  const { ID: tag } = await send('POST', '/portal-api/tags', { Name: 'payments' });
  await create('products', counts.products, n =>
    send('POST', '/portal-api/products', {
      Name: `Product ${n}`,
      IsDocumentationOnly: true,
      Description: `Answers questions about subject ${n}.`,
      Content: `<p>${'What it does, and for whom. '.repeat(40)}</p>`,
      Feature: n < 3,
      Catalogues: [n % 10 === 9 ? privateCatalogue : publicCatalogue],
      Tags: n % 100 === 0 ? [tag] : [],
    }),
  );
  const users: unknown[] = [];
  await create('users', counts.users, async n => {
    const user = { Email: `ann${n}@example.org`, First: 'Ann', Last: `Number ${n}`, Active: true };
    // One signs in; a password costs much processor time.
    users[n] = (await send('POST', '/portal-api/users', { ...user, ...(n === 0 ? { Password: password } : {}) })).ID;
  });
  await create('apps', counts.apps, n =>
    send('POST', '/portal-api/apps', { Name: `App ${n}`, UserID: users[n % users.length] }),
  );
  return 'ann0@example.org';
}

async function create(title: string, count: number, createOne: (n: number) => Promise<unknown>): Promise<void> {
  const before = product.cpuMicros();
  for (let n = 0; n < count; n += requestsAtOnce)
    await Promise.all(Array.from({ length: Math.min(requestsAtOnce, count - n) }, (_, more) => createOne(n + more)));
  const perObjectMs = (product.cpuMicros() - before) / count / 1000;
  console.error(`${count} ${title}: ${perObjectMs.toFixed(2)} ms CPU each`);
}

async function send(method: string, path: string, body?: unknown): Promise<Record<string, unknown>> {
  const answer = await product.sendToPortal(method, path, body);
  if (answer.status >= 300) throw new Error(`${method} ${path}: ${answer.status} ${JSON.stringify(answer.body)}`);
  return answer.body;
}

/** Signs in by the form of the site; returns the cookies of the session. */
async function signIn(email: string): Promise<string> {
  const page = await fetch(`${site}/auth/password/login`);
  const fields = [...(await page.text()).matchAll(/<input[^>]*type="hidden"[^>]*>/g)].map(([input]) => [
    /name="([^"]*)"/.exec(input)?.[1] ?? '',
    /value="([^"]*)"/.exec(input)?.[1] ?? '',
  ]);
  const response = await fetch(`${site}/auth/password/login`, {
    method: 'POST',
    redirect: 'manual',
    headers: { cookie: readCookies(page), origin: site },
    body: new URLSearchParams([...fields, ['login', email], ['password', password]]),
  });
  const cookies = readCookies(response);
  if (response.status !== 303 || cookies === '') throw new Error(`the sign-in of ${email}: ${response.status}`);
  return cookies;
}

function readCookies(response: Response): string {
  return response.headers
    .getSetCookie()
    .map(it => it.split(';')[0])
    .join('; ');
}

async function measurePages(cookie: string): Promise<void> {
  const lastPage = Math.ceil((counts.products * 0.9) / 24);
  const paths = [
    '/',
    '/portal/catalogue-products',
    `/portal/catalogue-products?page=${lastPage}`,
    '/portal/catalogue-products?q=subject%20777',
    '/portal/catalogue-products?q=subject',
    '/portal/catalogue-products?q=unknown',
    '/portal/catalogue-products?tag=payments',
    '/portal/catalogue-products/product-7',
    '/search?q=subject%20777',
    '/search?q=unknown',
    '/feed.xml',
  ];
  console.log(costHeading);
  for (const path of paths) await measurePage(`\`GET ${path}\``, path, {});
  for (const path of ['/portal/catalogue-products', '/portal/private/apps', '/search?q=App%2077'])
    await measurePage(`\`GET ${path}\`, signed in`, path, { cookie });
  for (const path of ['/portal-api/products?page=500', '/portal-api/apps?page=1', '/portal-api/apps?page=5000'])
    printCosts(`\`GET ${path}\``, await measureCosts(product, repetitions, () => send('GET', path)));
}

async function measurePage(title: string, path: string, headers: Record<string, string>): Promise<void> {
  const costs = await measureCosts(product, repetitions, async () => {
    const response = await fetch(site + path, { headers, redirect: 'manual' });
    await response.text();
    if (response.status !== 200) throw new Error(`GET ${path}: ${response.status}`);
  });
  printCosts(title, costs);
  const cpuMs = medianCpuMs(costs);
  if (cpuMs > maxPageCpuMs) failures.push(`GET ${path}: ${cpuMs.toFixed(1)} ms CPU, more than ${maxPageCpuMs}`);
}

async function measureVisitors(): Promise<void> {
  const load = { url: `${site}/portal/catalogue-products`, connections: counts.visitors };
  const result = await measureThroughput(product, load, visitorSeconds, otherCores);
  const { requests, requestsPerSecond, cpuMicrosPerRequest, p50Ms, p99Ms, failed } = result;
  console.log(
    `\n${counts.visitors} visitors of the catalogue at once for ${visitorSeconds} s: ${requests} pages ` +
      `(${requestsPerSecond.toFixed(0)}/s), ${(cpuMicrosPerRequest / 1000).toFixed(2)} ms CPU each, ` +
      `p50 ${p50Ms.toFixed(0)} ms, p99 ${p99Ms.toFixed(0)} ms, ${failed} failed, ` +
      `${Math.round(product.memoryBytes() / 1_048_576)} MiB`,
  );
  if (failed > 0) failures.push(`${failed} requests of the visitors failed`);
}
