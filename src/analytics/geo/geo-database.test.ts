import assert from 'node:assert/strict';
import { mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, describe, test } from 'node:test';
import { createLog } from '#base/log.ts';
import { cityRecord, encodeMaxmindDatabase } from '../../../tests/support/maxmind-database.ts';
import { batchOf } from '../../../tests/support/records.ts';
import { eventually } from '../../../tests/support/upstream.ts';
import { forEachCall } from '../batch.ts';
import { fillCountries } from './fill-countries.ts';
import { openGeoDatabase } from './geo-database.ts';

const directory = mkdtempSync(join(tmpdir(), 'gw-geo-'));
after(() => rmSync(directory, { recursive: true }));
let files = 0;
const freshPath = () => join(directory, `${++files}.mmdb`);

const london = cityRecord('GB', 'London', 51.5142, -0.0931);
const networks = {
  '81.2.69.0/24': london,
  '10.0.0.0/8': london,
  '89.160.20.128/25': { country: { iso_code: 'SE' } },
  '2a02:cf40::/29': { country: { iso_code: 'NO' } },
  '175.16.199.0/24': { city: { names: { en: 'No country' } } },
  '2.125.160.0/24': { country: { iso_code: 'not a code' } },
};

async function openTested(path: string, bytes: Uint8Array | undefined) {
  if (bytes) writeFileSync(path, bytes);
  const lines: string[] = [];
  const log = createLog({ level: 'info', format: 'json', write: line => lines.push(line) });
  const database = await openGeoDatabase({ path, log, reloadIntervalMs: 5 });
  return { database, lines };
}

/** Replaces the file as an updater does it: a new file takes the name. */
function replaceFile(path: string, bytes: Uint8Array): void {
  writeFileSync(`${path}.new`, bytes);
  renameSync(`${path}.new`, path);
}

describe('Geo database', () => {
  test('an address has country, city and location of its network; unknown and private ones have none', async () => {
    const { database } = await openTested(freshPath(), encodeMaxmindDatabase(networks));
    assert.deepEqual(database.locate('81.2.69.142'), {
      country: { iso_code: 'GB' },
      city: { geoname_id: 2_643_743, names: { en: 'London' } },
      location: { latitude: 51.5142, longitude: -0.0931, time_zone: 'Europe/London' },
    });
    assert.deepEqual(database.locate('81.2.69.142'), database.locate('81.2.69.1'));
    assert.deepEqual(database.locate('89.160.20.200'), { country: { iso_code: 'SE' } });
    assert.deepEqual(database.locate('2a02:cf40::1'), { country: { iso_code: 'NO' } });
    for (const address of [
      '89.160.20.1',
      '10.1.2.3',
      '127.0.0.1',
      '::1',
      '175.16.199.1',
      '2.125.160.1',
      '',
      'x',
      '2a03::1',
    ])
      assert.equal(database.locate(address), undefined, address);
    await database.close();
  });

  test('a changed file is loaded again; a broken one leaves the old one in use', async () => {
    const path = freshPath();
    const { database, lines } = await openTested(path, encodeMaxmindDatabase(networks));
    assert.equal(database.locate('81.2.69.142')?.country.iso_code, 'GB');
    replaceFile(path, Buffer.from('no database'));
    await eventually(() => assert.match(lines.join(''), /geo database not reloaded, the old one stays in use/));
    assert.equal(database.locate('81.2.69.143')?.country.iso_code, 'GB');
    replaceFile(path, encodeMaxmindDatabase({ '81.2.69.0/24': { country: { iso_code: 'FR' } } }));
    await eventually(() => assert.equal(database.locate('81.2.69.142')?.country.iso_code, 'FR'));
    assert.equal(lines.filter(line => line.includes('"error"')).length, 1);
    await database.close();
  });

  test('a file that is absent, empty, truncated or no database is an error of the start', async () => {
    const whole = encodeMaxmindDatabase(networks);
    for (const bytes of [
      undefined,
      Buffer.alloc(0),
      Buffer.from('text'),
      whole.subarray(0, -20),
      whole.subarray(-200),
    ]) {
      const path = freshPath();
      await assert.rejects(openTested(path, bytes), error => {
        assert.match((error as Error).message, /^analytics\.geo_database: .*\.mmdb cannot be used: \S/);
        return true;
      });
    }
  });

  test('the country of a call is that of its address, unless a proxy sent one', async () => {
    const { database } = await openTested(freshPath(), encodeMaxmindDatabase(networks));
    const batch = batchOf([
      { address: '81.2.69.142' },
      { address: '81.2.69.142', country: 'DE' },
      { address: '89.160.20.200' },
      { address: '127.0.0.1' },
      { address: '81.2.69.143' },
    ]);
    const countries: string[] = [];
    forEachCall(fillCountries(batch, database), record => countries.push(record.word('country')));
    assert.deepEqual(countries, ['GB', 'DE', 'SE', '', 'GB']);
    await database.close();
  });
});
