import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { listReferenceRows, type ReferenceRow } from '#definition/reference-rows.ts';
import { anyName } from '#definition/wire-schema.ts';
import { useSharedApp } from '../support/shared-app.ts';

/** Every field of both formats with an invalid value: the write is refused, with the path of the field. */

/** A value the rule has no room for; undefined where it takes anything. */
function wrongFor({ rule }: ReferenceRow): unknown {
  if (/\banything\b/.test(rule) && !/^(map|list) of/.test(rule)) return undefined;
  return /^map of/.test(rule) ? 'a text' : { not: 'this' };
}

/** The members on the way to a field: a list has one entry, a map one name. */
const membersOf = (path: string) =>
  path
    .replaceAll('[]', '.0')
    .replaceAll(anyName, 'some')
    .split('.')
    .map(member => (/^\d+$/.test(member) ? Number(member) : member));

function put(root: Record<string, unknown>, members: readonly (string | number)[], value: unknown): void {
  let here = root as Record<string | number, unknown>;
  for (const [at, member] of members.slice(0, -1).entries()) {
    here[member] ??= typeof members[at + 1] === 'number' ? [] : {};
    here = here[member] as Record<string | number, unknown>;
  }
  here[members.at(-1)!] = value;
}

const classic = (): Record<string, unknown> => ({
  name: 'Wrong',
  api_id: 'wrong',
  proxy: { listen_path: '/wrong', target_url: 'http://127.0.0.1:9' },
  version_data: { not_versioned: true, versions: { Default: { name: 'Default' } } },
});

const oas = () => ({
  openapi: '3.0.3',
  info: { title: 'Wrong', version: '1' },
  paths: {},
  'x-gw-api-gateway': {
    info: { name: 'Wrong', state: { active: true } },
    server: { listenPath: { value: '/wrong' } },
    upstream: { url: 'http://127.0.0.1:9' },
  } as Record<string, unknown>,
});

describe('Invalid values are refused when written, with their path', () => {
  const app = useSharedApp();

  async function checkRefusal(path: string, body: unknown, place: string): Promise<void> {
    const { status, text } = await app().ask('POST', path, { body });
    assert.equal(status, 400, text);
    assert.ok(text.includes(place), `the refusal does not say ${place}: ${text}`);
  }
  /** As refusals write it: `list[0].member`. */
  const formatPath = (members: readonly (string | number)[]) => members.join('.').replaceAll(/\.(\d+)/g, '[$1]');

  for (const row of listReferenceRows()) {
    const wrong = wrongFor(row);
    if (wrong === undefined) continue;
    const name = `${row.facet}.${row.field}`;
    if (row.classic !== null)
      test(`${name}, classic`, () => {
        const members = membersOf(row.classic!);
        const definition = classic();
        put(definition, members, wrong);
        return checkRefusal('/gw/apis', definition, formatPath(members));
      });
    if (row.oas !== null)
      test(`${name}, OpenAPI`, () => {
        const members = membersOf(row.oas!);
        const document = oas();
        put(document['x-gw-api-gateway'], members, wrong);
        return checkRefusal('/gw/apis/oas', document, formatPath(members));
      });
  }

  test('no refused definition was stored', async () => {
    assert.deepEqual((await app().ask('GET', '/gw/apis')).body, []);
  });
});
