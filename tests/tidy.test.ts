import assert from 'node:assert/strict';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';
import { test } from 'node:test';
import type { AnyOperation } from '#operations/operation.ts';
import { catalogue } from '../src/catalogue.ts';
import { version } from '../src/version.ts';
import { generateDocs } from '../tools/docs.ts';
import { countStyle, findImportCircles } from '../tools/style/report.ts';
import { findTimerLoops } from '../tools/style/timer-loops.ts';
import { longFunctions, styleLimits, timerLoops } from './support/style-limits.ts';

/** The rules of the repository. A rule that has to be broken is changed here, with its reason in docs/decisions. */

const root = resolve(import.meta.dirname, '..');
const sourceRoot = join(root, 'src');
const read = (path: string) => readFileSync(path, 'utf8');
const toRelativePath = (path: string) => relative(root, path);

const filesBelow = (folder: string, pattern: RegExp) =>
  readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter(entry => entry.isFile() && pattern.test(entry.name))
    .map(entry => join(entry.parentPath, entry.name));

const everySource = filesBelow(sourceRoot, /\.tsx?$/);
const sources = everySource.filter(path => !path.endsWith('.test.ts'));
const tests = [...everySource.filter(path => path.endsWith('.test.ts')), ...filesBelow(join(root, 'tests'), /\.ts$/)];
const wiring = new Set(
  ['main.ts', 'commands.ts', 'application.ts', 'seed-database.ts', 'stores.ts', 'catalogue.ts', 'version.ts'].map(
    name => join(sourceRoot, name),
  ),
);

/** Modules that reach a running product over HTTP: of the server they take types, never its code. */
const clients: Readonly<Record<string, readonly string[]>> = {
  cli: ['base', 'operations', 'catalogue.ts'],
  ui: ['base', 'operations', 'catalogue.ts'],
};
/** Code of the server that runs in browsers too: it imports nothing of Node. */
const runsInBrowsers = (path: string) => /^base\/qr\//.test(relative(sourceRoot, path));
/** Code that runs in browsers; `ui/build` runs in Node. */
const isBrowserCode = (path: string) => /^ui\/(?!build\/)/.test(relative(sourceRoot, path));

/** A module may import only modules to its left; the gateway imports neither the portal nor the demo. */
const order = [
  'base',
  'languages',
  'storage',
  'operations',
  'definition',
  'events',
  'people',
  'apis',
  'access',
  'configuration',
  'analytics',
  'workspace',
  'portal',
  'demo',
];
const moduleOf = (path: string) => relative(sourceRoot, path).split('/')[0]!;

function importsOf(path: string): string[] {
  const found = [
    ...read(path).matchAll(
      /(?:^|\n)\s*(?:import|export)\b[^'"`;]*?from\s*'([^']+)'|import\('([^']+)'\)|new URL\('(\.[^']+)', import\.meta/g,
    ),
  ];
  return found.flatMap(([, fixed, dynamic, beside]) => fixed ?? dynamic ?? beside ?? []);
}

const targetOf = (path: string, specifier: string) => {
  if (specifier.startsWith('#')) return join(sourceRoot, specifier.slice(1));
  return specifier.startsWith('.') ? resolve(dirname(path), specifier) : undefined;
};

test('imports point left', () => {
  for (const path of sources.filter(it => !wiring.has(it))) {
    const module = moduleOf(path);
    for (const target of importsOf(path).map(it => targetOf(path, it))) {
      if (!target || moduleOf(target) === module) continue;
      const left =
        module === 'gateway' ? order.slice(0, order.indexOf('portal')) : order.slice(0, order.indexOf(module));
      const allowed = clients[module] ?? left;
      assert.ok(allowed.includes(moduleOf(target)), `${toRelativePath(path)} imports ${toRelativePath(target)}`);
    }
  }
});

/** Sub-modules of the gateway: a file imports only sub-modules to the left, types included. */
const gatewayOrder = [
  'http',
  'pipeline',
  'tracing',
  'variables',
  'limits',
  'cache',
  'validation',
  'auth',
  'proxy',
  'transform',
  'plugins',
  'graphql',
  'mcp',
  'steps',
  'recording',
  'server',
  'routing',
  'streams',
  'uptime',
  'inspect',
  'runtime',
];
const subModuleOf = (path: string) => relative(join(sourceRoot, 'gateway'), path).split('/')[0]!;

test('imports between sub-modules of the gateway point left, and no file is outside of one', () => {
  for (const path of sources.filter(it => moduleOf(it) === 'gateway')) {
    const rank = gatewayOrder.indexOf(subModuleOf(path));
    assert.ok(rank >= 0, `${toRelativePath(path)} is in no sub-module`);
    for (const target of importsOf(path).map(it => targetOf(path, it))) {
      if (!target || moduleOf(target) !== 'gateway') continue;
      assert.ok(
        gatewayOrder.indexOf(subModuleOf(target)) <= rank,
        `${toRelativePath(path)} imports ${toRelativePath(target)}`,
      );
    }
  }
});

test('only pipeline/respond.ts runs response steps, writes response heads and records exchanges', () => {
  const respond = join(sourceRoot, 'gateway/pipeline/respond.ts');
  const implementations = /-writer\.ts$|pipeline\/chain\.ts$/;
  for (const path of sources.filter(it => moduleOf(it) === 'gateway' && it !== respond && !implementations.test(it)))
    assert.doesNotMatch(
      read(path),
      /\.(writeHead|switchProtocol)!?\(|\b(runResponseSteps|notifyFinished)\(/,
      toRelativePath(path),
    );
});

test('no files import each other in a circle, types included', () => {
  // A JSON Schema keyword compiles schemas, and compiling a schema compiles its keywords.
  const isAllowedCircle = (circle: readonly string[]) =>
    circle.every(file => file.startsWith('src/languages/json-schema/'));
  assert.deepEqual(
    findImportCircles(root).filter(circle => !isAllowedCircle(circle)),
    [],
  );
});

test('names and comments follow the style guide; the number of exceptions only falls', () => {
  const counts = countStyle(root);
  for (const rule of ['participles', 'pronounOpenings', 'peopleWords'] as const)
    assert.ok(counts[rule].length <= styleLimits[rule], `${rule}:\n${counts[rule].join('\n')}`);
  assert.deepEqual(
    counts.repeatedExports.filter(name => !styleLimits.repeatedExports.has(name)),
    [],
  );
});

test('functions have at most 60 lines but for those listed, and the list only shrinks', () => {
  const { longFunctions: found } = countStyle(root);
  assert.deepEqual(
    found.filter(it => !longFunctions.has(it)),
    [],
  );
  assert.deepEqual(
    [...longFunctions].filter(it => !found.includes(it)),
    [],
    'no longer long: take them off the list',
  );
});

test('periodic work runs in base/repeat.ts: no other file has a timer that sets itself again', () => {
  const interval = 'function start() {\n  setInterval(poll, 1000);\n}\n';
  const rearmed = 'function arm() {\n  setTimeout(() => void check(), 5);\n}\nfunction check() {\n  arm();\n}\n';
  assert.deepEqual([interval, rearmed].flatMap(findTimerLoops), ['start', 'arm']);
  const timeout = 'function send() {\n  setTimeout(abort, 5);\n}\nfunction abort() {\n  end();\n}\n';
  const comment = '// Until setInterval(check) is cleared.\nfunction clear() {\n  timers.clear();\n}\n';
  assert.deepEqual([timeout, comment].flatMap(findTimerLoops), []);
  const found = sources.flatMap(path => findTimerLoops(read(path)).map(name => `${toRelativePath(path)} ${name}`));
  assert.deepEqual(found.sort(), Object.keys(timerLoops), 'use every or repeat; take unneeded exceptions off the list');
});

test('clients take types of the server, never its code', () => {
  for (const path of sources.filter(it => moduleOf(it) in clients))
    assert.doesNotMatch(
      read(path),
      /import (?!type\b)[^;]*\/catalogue\.ts'|import\([^)]*\/catalogue\.ts'/,
      toRelativePath(path),
    );
});

test('browser code takes types of the server, never its code', () => {
  for (const path of sources.filter(isBrowserCode))
    for (const [, clause, specifier] of read(path).matchAll(/(?:^|\n)import\b([^'"`;]*?)from\s*'([^']+)'/g)) {
      const target = targetOf(path, specifier!);
      if (!target || (moduleOf(target) === 'ui' && isBrowserCode(target)) || runsInBrowsers(target)) continue;
      assert.match(clause!, /^ type\b/, `${toRelativePath(path)} imports the code of ${specifier}`);
    }
});

test('code of the server that runs in browsers too imports only files like it', () => {
  for (const path of sources.filter(runsInBrowsers))
    for (const specifier of importsOf(path))
      assert.ok(targetOf(path, specifier) && runsInBrowsers(targetOf(path, specifier)!), `${path} ${specifier}`);
});

test('other modules are imported by name, files of the same module by path', () => {
  for (const path of sources) {
    for (const specifier of importsOf(path)) {
      const target = targetOf(path, specifier);
      if (!target || wiring.has(path) || wiring.has(target)) continue;
      const own = moduleOf(target) === moduleOf(path);
      assert.equal(specifier.startsWith('.'), own, `${toRelativePath(path)} imports ${specifier}`);
    }
  }
});

test('no file is an orphan', () => {
  const used = new Set(
    [...sources, ...tests, ...filesBelow(join(root, 'tools'), /\.ts$/)].flatMap(path =>
      importsOf(path).map(it => targetOf(path, it)),
    ),
  );
  // Programs, and scripts that documents of the web apps name.
  const isEntry = (path: string) => /\/(main\.tsx?|theme-start\.ts)$/.test(path);
  const orphans = sources.filter(path => !used.has(path) && !isEntry(path));
  assert.deepEqual(orphans.map(toRelativePath), []);
});

/** A sentence that documents are made from is one text, however long. */
const isProse = (line: string) => /^\s*'[^']*',?$/.test(line);

test('files and functions stay small enough to be read', () => {
  const tables = /(-table|-tables|tables|list|field-codecs)\.ts$|\/facets\/|\/endpoints\//;
  for (const path of sources) {
    const lines = read(path).split('\n');
    if (!tables.test(path)) assert.ok(lines.length <= 401, `${toRelativePath(path)} has ${lines.length} lines`);
    for (const [index, line] of lines.entries())
      if (!isProse(line))
        assert.ok(line.length <= 130, `${toRelativePath(path)}:${index + 1} is ${line.length} columns`);
  }
});

test('files are kebab-case nouns', () => {
  const vague = /(^|-)(utils?|helpers?|common|misc)(-|\.)/;
  for (const path of [...sources, ...tests]) {
    const name = path.split('/').at(-1)!;
    assert.match(name, /^[a-z0-9]+(-[a-z0-9]+)*(\.test)?\.tsx?$|^\d{4}-[a-z-]+\.ts$/, toRelativePath(path));
    assert.doesNotMatch(name, vague, toRelativePath(path));
  }
});

test('time, randomness, environment and console stay in base', () => {
  const forbidden = /\bDate\.now\(|\bMath\.random\(|\bprocess\.env\b|\bconsole\.|\bnew Date\(\)/;
  const browserClock = join(sourceRoot, 'ui/kit/browser-clock.ts');
  for (const path of sources.filter(it => moduleOf(it) !== 'base' && it !== browserClock)) {
    for (const [index, line] of read(path).split('\n').entries()) {
      if (!/^\s*(\*|\/\/)/.test(line)) assert.doesNotMatch(line, forbidden, `${toRelativePath(path)}:${index + 1}`);
    }
  }
});

test('nothing is silenced, skipped or left for later', () => {
  const words = [
    'as any\\b',
    ': any(?= *[;,)=|&>{\\[])',
    '@ts-(ignore|expect-error|nocheck)',
    'biome-' + 'ignore',
    'TO' + 'DO',
    'FIX' + 'ME',
  ];
  const forbidden = new RegExp(
    `\\b(${words.join('|')})|catch *(\\([^)]*\\))? *\\{ *\\}|\\b(test|it|describe)\\.(skip|todo|only)\\b`,
  );
  for (const path of [...sources, ...tests].filter(it => it !== import.meta.filename)) {
    const code = read(path).replaceAll(/^\s*(\/?\*|\/\/).*\bany\b.*$/gm, '');
    assert.doesNotMatch(code, forbidden, toRelativePath(path));
  }
});

test('SQL is spoken by stores and storage only', () => {
  for (const path of sources) {
    const speaks = moduleOf(path) === 'storage' || /store\.ts$/.test(path);
    if (!speaks)
      assert.doesNotMatch(
        read(path),
        /from 'kysely'|\.(selectFrom|insertInto|updateTable|deleteFrom)\(/,
        toRelativePath(path),
      );
  }
});

test('an import of node:http names types only, so that no thread loads what it never uses', () => {
  for (const path of sources)
    assert.doesNotMatch(read(path), /^import (?!type ).*from 'node:http';$/m, toRelativePath(path));
});

/** Where callers prove who they are. */
const guarding = ['gateway/auth', 'people', 'operations', 'access'].map(folder => join(sourceRoot, folder, '/'));
const secretName =
  /(?:digest|secret|signature|token|hash|password|mac|challenge|verifier|nonce|assertion|expected|given)(?:Of)?$/i;
const isFixedText = (operand: string) => /^(?:['"`]|undefined\b|null\b|true\b|false\b|-?\d)/.test(operand);
const lastName = (operand: string) => operand.replace(/\(.*$/, '').replace(/[!?)\]]+$/, '');

/** Timing attacks: the comparisons of a line that end at the first byte that differs, and are of something secret. */
function earlyComparisons(line: string): string[] {
  if (/^\s*(?:\*|\/\/|\/\*)/.test(line)) return [];
  const operators = [...line.matchAll(/(?<typeOf>typeof )?(?<a>[\w$.?!()[\]]+) (?:[!=]==?) (?<b>[\w$.?!()[\]'"`-]+)/g)];
  const compared = operators.filter(({ groups }) => {
    const { typeOf, a = '', b = '' } = groups!;
    if (typeOf || isFixedText(a) || isFixedText(b)) return false;
    return secretName.test(lastName(a)) || secretName.test(lastName(b));
  });
  return [
    ...compared.map(([text]) => text),
    ...(line.match(/[\w$.]+\.(?:equals|compare|localeCompare)\([^)]*\)/g) ?? []),
  ];
}

/** Not of anything a caller sends to prove who they are. */
const harmless: Readonly<Record<string, string>> = {
  'one.key.equals(other.key)': 'public keys of a key set',
  'it.digest === digest': 'keyed hashes: which row of a query belongs to which of the ids it asked for',
};

test('secrets are compared in constant time', () => {
  for (const line of [
    'if (given.equals(expected)) return;',
    'return signature === expected;',
    'const same = digestOf(given) === row.digest;',
    'if (client.secret !== secret) refuse();',
    'Buffer.compare(mac, other) === 0',
  ])
    assert.notDeepEqual(earlyComparisons(line), [], line);
  for (const line of ["secret === ''", 'password !== undefined', "typeof token !== 'string'", '// token === other'])
    assert.deepEqual(earlyComparisons(line), [], line);
  const found = sources
    .filter(path => guarding.some(folder => path.startsWith(folder)))
    .flatMap(path =>
      read(path)
        .split('\n')
        .flatMap(earlyComparisons)
        .map(text => ({ path, text })),
    );
  for (const { path, text } of found)
    assert.ok(
      Object.hasOwn(harmless, text),
      `${toRelativePath(path)}: ${text} is not timingSafeEqual or constantTimeEqual`,
    );
  const unused = Object.keys(harmless).filter(text => !found.some(it => it.text === text));
  assert.deepEqual(unused, [], 'these exceptions are no longer needed');
});

test('no untrusted code runs in our own context', () => {
  // The build of the web apps: our own program, with an empty environment.
  const buildStart = join(sourceRoot, 'ui/build/start-build.ts');
  for (const path of sources.filter(it => it !== buildStart))
    assert.doesNotMatch(read(path), /node:vm|child_process|\beval\(|new Function\(/, toRelativePath(path));
});

test('every declared operation is in the catalogue, once', async () => {
  const listed = new Set<unknown>(catalogue);
  assert.equal(listed.size, catalogue.length);
  for (const path of sources.filter(it => /operations\.ts$/.test(it))) {
    const module = (await import(path)) as Record<string, unknown>;
    for (const [name, value] of Object.entries(module)) {
      const declared = value as Partial<AnyOperation> | undefined;
      if (typeof declared?.handle === 'function')
        assert.ok(listed.has(value), `${toRelativePath(path)}: ${name} is not in the catalogue`);
    }
  }
  const routes = catalogue.map(it => `${it.method} ${it.path.replaceAll(/\{[\w-]+\}/g, '{}')}`);
  assert.equal(new Set(routes).size, routes.length, 'two operations share a route');
  assert.equal(new Set(catalogue.map(it => it.name)).size, catalogue.length, 'two operations share a name');
});

test('generated reference pages are fresh', () => {
  for (const [path, content] of Object.entries(generateDocs())) {
    assert.equal(read(join(root, path)), content, `${path} is stale: run npm run docs`);
  }
});

test('the version is the package’s', () => {
  assert.equal(JSON.parse(read(join(root, 'package.json'))).version, version);
});

test('the lock file names no host and every package has its integrity', () => {
  const lock = JSON.parse(read(join(root, 'package-lock.json'))) as {
    packages: Record<string, { resolved?: string; integrity?: string; inBundle?: boolean }>;
  };
  for (const [name, { resolved, integrity, inBundle }] of Object.entries(lock.packages)) {
    if (name === '') continue;
    assert.equal(resolved, undefined, name);
    // A bundled package is part of the archive of the package around it, whose integrity is verified.
    const around = name.slice(0, name.indexOf('/node_modules/'));
    assert.ok(inBundle === true ? lock.packages[around]?.integrity : integrity, name);
  }
});

const decisions = join(root, 'docs/decisions');

test('every dependency is imported and has a row in decision 1, and every row is a dependency', () => {
  const { dependencies, devDependencies } = JSON.parse(read(join(root, 'package.json'))) as {
    dependencies: Record<string, string>;
    devDependencies: Record<string, string>;
  };
  const loaders = read(join(sourceRoot, 'base/lazy-packages.ts')).matchAll(/createLoader<[^']*\('([^']+)'\)/g);
  const loaded = [...loaders].map(([, name]) =>
    name!
      .split('/')
      .slice(0, name!.startsWith('@') ? 2 : 1)
      .join('/'),
  );
  // Files of a package that are read, such as WebAssembly.
  const resolved = sources.flatMap(path =>
    [...read(path).matchAll(/import\.meta\.resolve\('([^'/]+)\//g)].map(([, name]) => name!),
  );
  const styles = filesBelow(sourceRoot, /\.css$/).flatMap(path =>
    [...read(path).matchAll(/^@import ["']([^"'.][^"']*)/gm)].map(([, name]) => name!),
  );
  const toPackage = (specifier: string) => /^(?:@[^/]+\/)?[^/]+/.exec(specifier)![0];
  const specifiers = [...sources.flatMap(importsOf), ...styles];
  const imported = new Set([...specifiers, ...specifiers.map(toPackage), ...loaded, ...resolved]);
  const runtime = 'node';
  const unused = Object.keys(dependencies).filter(name => name !== runtime && !imported.has(name));
  assert.deepEqual(unused, [], 'these dependencies are imported nowhere in src');
  const firstCells = [...read(join(decisions, '0001-runtime-and-dependencies.md')).matchAll(/^\| (`[^|]*) \|/gm)];
  const rows = firstCells.flatMap(([, cell]) => [...cell!.matchAll(/`([^`]+)`/g)].map(([, name]) => name!));
  assert.deepEqual(rows.sort(), [...Object.keys(dependencies), ...Object.keys(devDependencies)].sort());
});

test('every decision has the four headings and is listed under its title, in number order', () => {
  const files = readdirSync(decisions).filter(name => /^\d{4}-/.test(name));
  const rows = files.sort().map(name => {
    const [, number, title] = /^# (\d+)\. (.+)$/m.exec(read(join(decisions, name)))!;
    assert.equal(Number(name.slice(0, 4)), Number(number), name);
    const headings = [...read(join(decisions, name)).matchAll(/^## (.+)$/gm)].map(([, heading]) => heading);
    assert.deepEqual(headings, ['Status', 'Context', 'Decision', 'Consequences'], name);
    return `| [${number}](${name}) | ${title} |`;
  });
  assert.deepEqual(read(join(decisions, 'README.md')).match(/^\| \[.*$/gm), rows);
});

test('relative links of the pages lead to files', () => {
  const pages = [
    ...readdirSync(root)
      .filter(name => name.endsWith('.md'))
      .map(name => join(root, name)),
    ...['docs', 'bench', 'examples'].flatMap(folder => filesBelow(join(root, folder), /\.md$/)),
  ];
  for (const page of pages)
    for (const [, target] of read(page).matchAll(/\]\((?![a-z]+:|#)([^)#\s]+)(?:#[^)]*)?\)/g))
      assert.ok(existsSync(resolve(dirname(page), target!)), `${toRelativePath(page)} links to ${target}`);
});

test('source files that pages for developers name exist', () => {
  const pages = ['ARCHITECTURE.md', 'CONTRIBUTING.md'].map(name => join(root, name));
  for (const page of [...pages, ...filesBelow(decisions, /\.md$/)])
    for (const [path] of read(page).matchAll(/(?<![#\w/-])(?:[\w-]+\/)+[\w-]+(?:\.test)?\.ts\b/g))
      assert.ok(
        [root, sourceRoot].some(folder => existsSync(join(folder, path))),
        `${toRelativePath(page)} names ${path}`,
      );
});
