import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { formatKeyId } from '#access/keys/ids.ts';
import { createPublicId } from '#base/ids.ts';
import { onEveryEngine } from './support/app.ts';
import { openApi, publish, waitUntilApplied } from './support/traffic.ts';
import { startUpstream, type Upstream } from './support/upstream.ts';

for (const at_rest of ['encrypted', 'hashed'])
  onEveryEngine(
    `key ids on the wire, ${at_rest} at rest`,
    app => {
      let upstream: Upstream;
      before(async () => {
        upstream = await startUpstream();
      });
      after(() => upstream.close());

      async function ground() {
        const api = openApi(upstream, { use_keyless: false });
        const url = await publish(app(), api);
        const body = { access_rights: { [api.api_id]: { versions: ['Default'] } } };
        const make = async (path: string): Promise<string> => {
          const { status, text, body: made } = await app().ask('POST', path, { body });
          assert.equal(status, 200, text);
          await waitUntilApplied(app());
          return made.key;
        };
        const statuses = (...keys: string[]) =>
          Promise.all(keys.map(async key => (await fetch(url, { headers: { authorization: key } })).status));
        const random = await make('/gw/keys');
        return { url, make, statuses, random, org: random.slice(0, 24) };
      }

      test('a generated key is its organisation id and 32 hexadecimal digits, and is accepted only as a whole', async () => {
        const { random, org, statuses } = await ground();
        assert.match(random, /^[0-9a-f]{24}[0-9a-f]{32}$/);
        assert.deepEqual(await statuses(random, `Bearer ${random}`, org, random.slice(0, -1)), [200, 200, 403, 403]);
        const elsewhere = 'f'.repeat(24) + random.slice(24);
        assert.deepEqual(await statuses(elsewhere, `${random} `, `${random}x`), [403, 200, 403]);
      });

      test('a custom key is accepted by its name and by its full id, in every key format', async () => {
        const { make, org, statuses } = await ground();
        const name = `custom-${createPublicId()}`;
        const whole = await make(`/gw/keys/${name}`);
        assert.equal(whole, org + name);
        assert.deepEqual(await statuses(name, whole, formatKeyId(org, name, 'sha256')), [200, 200, 200]);
        assert.deepEqual(await statuses(formatKeyId('f'.repeat(24), name, 'sha256')), [403]);
      });

      test('a custom key stored in several formats resolves to the current one when it is read, updated and deleted', async () => {
        const { org } = await ground();
        const access_rights = { other: { api_id: 'other', versions: ['Default'] } };
        const path = (keyId: string) => `/gw/keys/${encodeURIComponent(keyId)}`;
        const aliasOf = async (keyId: string) => {
          const { status, body } = await app().ask('GET', path(keyId));
          return status === 200 ? body.alias : status;
        };
        // The order in which a database returns the two is its own, so there are several names and both orders.
        for (let n = 0; n < 8; n++) {
          const name = `twice-${createPublicId()}`;
          const [today, older] = [formatKeyId(org, name), formatKeyId(org, name, 'sha256')];
          const forms = n % 2 === 0 ? [today, older] : [older, today];
          for (const form of forms) {
            const body = { access_rights, alias: form === today ? 'today' : 'older' };
            const { status, text } = await app().ask('POST', path(form), { body });
            assert.equal(status, 200, text);
          }
          assert.deepEqual([await aliasOf(name), await aliasOf(older)], ['today', 'older']);
          const changed = { access_rights, alias: 'changed' };
          assert.equal((await app().ask('PUT', path(name), { body: changed })).status, 200);
          assert.deepEqual([await aliasOf(today), await aliasOf(older)], ['changed', 'older']);
          assert.equal((await app().ask('DELETE', path(name))).status, 200);
          assert.deepEqual([await aliasOf(name), await aliasOf(older)], ['older', 'older']);
        }
      });

      for (const algorithm of ['murmur32', 'murmur64', 'murmur128', 'sha256'])
        test(`an imported JSON key with ${algorithm} keeps its id and is accepted by id and by name`, async () => {
          const { make, org, statuses } = await ground();
          const name = `brought-${createPublicId()}`;
          const id = formatKeyId(org, name, algorithm);
          assert.equal(await make(`/gw/keys/${encodeURIComponent(id)}`), id);
          assert.deepEqual(await statuses(id, name, `Bearer ${id}`), [200, 200, 200]);
          const altered = Buffer.from(JSON.stringify({ org, id: `${name}x`, h: algorithm })).toString('base64');
          assert.deepEqual(await statuses(altered), [403]);
        });
    },
    { settings: { 'keys.at_rest': at_rest } },
  );
