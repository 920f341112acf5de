import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, describe, test } from 'node:test';
import { readSettings } from '#base/settings.ts';
import { makeAuthority, makeServerCertificate } from '../../../tests/support/certificates.ts';
import { createUpstreamAuthorities } from './authorities.ts';

const directory = mkdtempSync(join(tmpdir(), 'gw-authorities-'));
after(() => rmSync(directory, { recursive: true }));

let files = 0;
function writeFile(text: string): string {
  const file = join(directory, `${++files}.pem`);
  writeFileSync(file, text);
  return file;
}

const one = makeAuthority('One');
const other = makeAuthority('Other');

function create(source: string, mode = 'add') {
  const errors: string[] = [];
  const settings = readSettings({ flags: { 'upstream.ca_certificates': source, 'upstream.ca_mode': mode } });
  return { authorities: createUpstreamAuthorities(settings, error => void errors.push(error.message)), errors };
}

describe('certificate authorities of upstreams', () => {
  test('without a setting those of the system are trusted', () => {
    const { authorities } = create('');
    assert.deepEqual(authorities.current(), { key: '', certificates: [], includesSystem: true });
    assert.equal(authorities.isReloadable, false);
  });

  test('a file with several certificates and PEM in the setting are equal; the mode makes another set', () => {
    const pem = `# a comment\n${one.certPem}\n${other.certPem}`;
    const read = create(writeFile(pem)).authorities.current();
    assert.equal(read.certificates.length, 2);
    assert.deepEqual(create(one.certPem + other.certPem).authorities.current(), read);
    const replaced = create(writeFile(pem), 'replace').authorities.current();
    assert.deepEqual([replaced.certificates, replaced.includesSystem], [read.certificates, false]);
    assert.notEqual(replaced.key, read.key);
  });

  test('a changed file is read again; one that cannot be used is reported once, and the last set stays', () => {
    const file = writeFile(one.certPem);
    const { authorities, errors } = create(file);
    const first = authorities.current();
    authorities.refresh();
    assert.equal(authorities.current(), first);
    writeFileSync(file, `${one.certPem}${other.certPem}`);
    authorities.refresh();
    const second = authorities.current();
    assert.equal(second.certificates.length, 2);
    writeFileSync(file, '');
    authorities.refresh();
    authorities.refresh();
    rmSync(file);
    authorities.refresh();
    assert.equal(authorities.current(), second);
    assert.equal(errors.length, 2);
    assert.match(errors[0]!, /^upstream\.ca_certificates cannot be used: it has no certificate in PEM$/);
    assert.match(errors[1]!, /^upstream\.ca_certificates cannot be used: ENOENT/);
  });

  test('what cannot be used is an error at the start', () => {
    const broken = '-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n';
    for (const [source, reason] of [
      [join(directory, 'absent.pem'), /ENOENT/],
      [directory, /EISDIR/],
      [writeFile('text'), /no certificate in PEM/],
      [writeFile(one.keyPem), /no certificate in PEM/],
      [writeFile(one.certPem + broken), /certificate 2: /],
      [broken, /certificate 1: /],
      [writeFile(one.certPem.repeat(1001)), /more than 1000 certificates/],
      [writeFile('x'.repeat(4_194_305)), /larger than 4194304 bytes/],
    ] as const)
      assert.throws(() => create(source), { code: 'upstream_authorities.unreadable', message: reason });
  });

  test('added authorities are trusted beside those of the system, replacing ones alone', () => {
    // Node reads NODE_EXTRA_CA_CERTS, which belong to those of the system, at its start.
    const script = `
      import { connect, createServer } from 'node:tls';
      import { createAuthoritySet, getAuthorityContext } from ${JSON.stringify(import.meta.resolve('./authorities.ts'))};
      const { own, leaves } = JSON.parse(process.env.GIVEN);
      const results = [];
      for (const includesSystem of [true, false])
        for (const leaf of leaves) {
          const server = createServer({ cert: leaf.certPem, key: leaf.keyPem }, socket => socket.end());
          await new Promise(resolve => server.listen(0, '127.0.0.1', resolve));
          const secureContext = getAuthorityContext(createAuthoritySet([own], includesSystem), {}, '');
          const socket = connect({ port: server.address().port, host: '127.0.0.1', secureContext });
          results.push(await new Promise(resolve => {
            socket.on('secureConnect', () => resolve('trusted'));
            socket.on('error', () => resolve('refused'));
          }));
          socket.destroy();
          server.close();
        }
      console.log(JSON.stringify(results));`;
    const system = makeAuthority('System');
    const leaves = [one, system, other].map(issuer => makeServerCertificate(issuer));
    const { stdout, stderr } = spawnSync(process.execPath, ['--input-type=module-typescript', '--eval', script], {
      env: {
        ...process.env,
        NODE_EXTRA_CA_CERTS: writeFile(system.certPem),
        GIVEN: JSON.stringify({ own: one.certPem, leaves }),
      },
      encoding: 'utf8',
    });
    assert.deepEqual(
      JSON.parse(stdout || 'null'),
      ['trusted', 'trusted', 'refused', 'trusted', 'refused', 'refused'],
      stderr,
    );
  });
});
