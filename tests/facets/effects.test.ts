import assert from 'node:assert/strict';
import { after, describe, test } from 'node:test';
import { isNotEnforced } from '#definition/not-enforced.ts';
import { type AppOptions, startApp } from '../support/app.ts';
import { startUpstream, type Upstream } from '../support/upstream.ts';
import { allRows, prove, rowsOf, type Watched } from './effect.ts';
import { effects } from './effects/list.ts';

const formats = ['classic', 'oas'] as const;

describe('Effects of definition fields', () => {
  const apps = new Map<string, Promise<Watched>>();
  let upstream: Promise<Upstream> | undefined;
  const appWith = (options: AppOptions) => {
    const key = JSON.stringify(options);
    const known = apps.get(key) ?? startWatched(options);
    apps.set(key, known);
    return known;
  };
  const startWatched = async (options: AppOptions): Promise<Watched> => {
    const logged: string[] = [];
    return { logged, app: await startApp('sqlite', { ...options, onTrafficLog: lines => logged.push(lines) }) };
  };
  after(async () => {
    for (const known of apps.values()) await (await known).app.close();
    await (await upstream)?.close();
  });

  for (const effect of effects)
    for (const format of formats.filter(it => effect[it]))
      test(`${effect.promise} (${format}: ${effect.rows})`, async () => {
        upstream ??= startUpstream();
        await prove(effect, await appWith({ settings: effect.settings ?? {} }), await upstream, format);
      });
});

test('every field has an effect test in every format that supports it', () => {
  const nameOf = ({ facet, field }: (typeof allRows)[number]) => `${facet}.${field}`;
  const excused = new Set(allRows.filter(isNotEnforced).map(nameOf));
  const names = allRows.map(nameOf);
  const missing = formats.flatMap(format => {
    const proven = new Set(effects.filter(it => it[format]).flatMap(rowsOf));
    return names.filter((name, at) => allRows[at]![format] !== null && !proven.has(name)).map(name => [name, format]);
  });
  assert.deepEqual(
    missing.filter(([name]) => !excused.has(name!)),
    [],
    'no test in tests/facets/effects/ turns these on',
  );
  const lacking = new Set(missing.map(([name]) => name));
  assert.deepEqual(
    [...excused].filter(name => !lacking.has(name)),
    [],
    'these have an effect: they are not among what is not enforced',
  );
});
