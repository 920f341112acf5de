import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { TestApp } from '../../../tests/support/app.ts';
import { onEveryEngine, rememberSecrets } from '../../../tests/support/app.ts';
import { makeAuthority, makeCertificate, makeClientCertificate } from '../../../tests/support/certificates.ts';
import { maxUploadBytes } from './pem.ts';

const form = (field: string, pem: string) => {
  const given = new FormData();
  given.set(field, new Blob([pem]), 'chain.pem');
  return given;
};

const upload = (app: TestApp, pem: string, credential?: string) =>
  app.ask('POST', '/api/certs', { body: pem, ...(credential ? { credential } : {}) });

type Summary = { id: string; has_private: boolean; subject_cn: string };

onEveryEngine('certificates', app => {
  const authority = makeAuthority('Acme authority', { organization: 'Acme' });

  test('an upload under any field name of a form, or as the body, becomes a certificate named after its fingerprint', async () => {
    const { orgId, accessKey: credential } = await app().stranger();
    const [first, second, third] = ['a', 'b', 'c'].map(cn => makeClientCertificate(authority, cn));
    for (const [body, { fingerprint }] of [
      [form('file', first!.certPem), first!],
      [form('whatever', second!.certPem + second!.keyPem), second!],
      [third!.chainPem, third!],
    ] as const) {
      const { status, body: answer } = await app().ask('POST', '/api/certs', { body, credential });
      assert.equal(status, 200);
      assert.deepEqual(answer, { id: orgId + fingerprint, message: 'Certificate added', status: 'ok' });
    }
  });

  test('a read shows the whole record and no private key', async () => {
    const { orgId, accessKey: credential } = await app().stranger();
    const made = makeCertificate({ cn: 'api', organization: 'Acme', dnsNames: ['api.example'], issuer: authority });
    rememberSecrets({ key: made.keyPem.split('\n')[1] });
    const { id } = (await upload(app(), made.certPem + made.keyPem, credential)).body;
    const { status, body, text } = await app().ask('GET', `/api/certs/${id}`, { credential });
    assert.equal(status, 200);
    const { issuer, subject, ...facts } = body;
    assert.deepEqual(facts, {
      id: orgId + made.fingerprint,
      fingerprint: made.fingerprint,
      has_private: true,
      is_ca: false,
      dns_names: ['api.example'],
      not_before: '2020-01-01T00:00:00Z',
      not_after: '2049-12-31T23:59:59Z',
    });
    assert.equal(issuer.CommonName, 'Acme authority');
    assert.deepEqual(subject.Organization, ['Acme']);
    assert.doesNotMatch(text, /PRIVATE/);
    const details = await app().ask('GET', '/api/certs/details', { credential });
    assert.deepEqual(details.body, { certificates: [body], pages: 1 });
  });

  test('the private key is sealed in the database and opened by getWithPrivateKey', async () => {
    const { orgId, accessKey } = await app().stranger();
    const made = makeCertificate({ cn: 'sealed' });
    const { id } = (await upload(app(), made.certPem + made.keyPem, accessKey)).body;
    const { records, services } = app().application.installation;
    const row = await records.db
      .selectFrom('certificates')
      .select('body')
      .where('id', '=', id)
      .executeTakeFirstOrThrow();
    assert.ok(!row.body.includes(made.keyPem.split('\n')[1]!) && !row.body.includes('PRIVATE'));
    assert.equal((await services.certificates.getWithPrivateKey(orgId, id))?.privateKeyPem, made.keyPem);
    assert.equal('privateKeyPem' in (await services.certificates.get(orgId, id))!, false);
  });

  test('the list has summaries in both modes, ids only without one, and filters only with it', async () => {
    const { accessKey: credential } = await app().stranger();
    const list = async (query: string) => (await app().ask('GET', `/api/certs${query}`, { credential })).body;
    assert.deepEqual(await list(''), { cert_basics: [], pages: 1, certs: [] });
    const keyed = makeCertificate({ cn: 'keyed' });
    const { id: withKey } = (await upload(app(), keyed.certPem + keyed.keyPem, credential)).body;
    const { id: without } = (await upload(app(), makeCertificate({ cn: 'bare' }).certPem, credential)).body;

    const plain = await list('/?filter=with_pk');
    assert.deepEqual(plain.certs, [without, withKey]);
    assert.deepEqual(plain.cert_basics[1], {
      id: withKey,
      issuer_cn: 'keyed',
      subject_cn: 'keyed',
      dns_names: [],
      has_private: true,
      not_before: '2020-01-01T00:00:00Z',
      not_after: '2049-12-31T23:59:59Z',
      is_ca: false,
    });
    const listDetails = async (filter: string) => {
      const answer = await list(`?mode=detailed${filter}`);
      assert.deepEqual(Object.keys(answer).sort(), ['cert_basics', 'pages']);
      return answer.cert_basics.map(({ id }: Summary) => id);
    };
    assert.deepEqual(await listDetails(''), [without, withKey]);
    assert.deepEqual(await listDetails('&filter=omit'), [without, withKey]);
    assert.deepEqual(await listDetails('&filter=with_pk'), [withKey]);
    assert.deepEqual(await listDetails('&filter=without_pk'), [without]);
  });

  test('a mode, filter or page that does not exist is refused by name', async () => {
    for (const [query, name] of [
      ['mode=brief', 'mode'],
      ['mode=', 'mode'],
      ['mode=detailed&filter=all', 'filter'],
      ['filter=all', 'filter'],
      ['p=x', 'p'],
    ] as const) {
      const { status, body } = await app().ask('GET', `/api/certs?${query}`);
      assert.equal(status, 400, query);
      assert.ok(body.Message.startsWith(`${name}: `), body.Message);
    }
  });

  test('lists have pages, newest first; below 1 everything; past the end none', async () => {
    const { accessKey: credential } = await app().stranger();
    const names = Array.from({ length: 11 }, (_, n) => `c${n}`);
    for (const cn of names) await upload(app(), makeCertificate({ cn }).certPem, credential);
    for (const path of ['/api/certs', '/api/certs/details']) {
      const page = async (p: number) => {
        const { body } = await app().ask('GET', `${path}?p=${p}`, { credential });
        const items: { id: string }[] = body.cert_basics ?? body.certificates;
        return { ids: items.map(({ id }) => id), pages: body.pages };
      };
      const all = await page(-1);
      assert.equal(all.ids.length, 11);
      assert.deepEqual(await page(1), { ids: all.ids.slice(0, 10), pages: 2 });
      assert.deepEqual(await page(2), { ids: all.ids.slice(10), pages: 2 });
      assert.deepEqual(await page(3), { ids: [], pages: 2 });
    }
    const { body } = await app().ask('GET', '/api/certs?p=-1', { credential });
    assert.deepEqual(
      body.cert_basics.map(({ subject_cn }: Summary) => subject_cn),
      names.toReversed(),
    );
  });

  test('the same certificate twice is a conflict in one organisation, and none in another', async () => {
    const { certPem, keyPem } = makeCertificate({ cn: 'twice' });
    const { id } = (await upload(app(), certPem)).body;
    const again = await upload(app(), certPem + keyPem);
    assert.equal(again.status, 409);
    assert.equal(again.body.Message, `Certificate with ${id} id already exists`);
    assert.equal((await upload(app(), certPem, (await app().stranger()).accessKey)).status, 200);
  });

  test('an upload that is not a certificate is refused with the reason', async () => {
    const empty = new FormData();
    empty.set('note', 'no file');
    for (const [body, status, message] of [
      ['', 400, /^No certificate was sent/],
      [empty, 400, /^No certificate was sent/],
      ['not PEM', 400, /should be PEM encoded/],
      [form('file', ''), 400, /should be PEM encoded/],
      [Buffer.from([0xff, 0xfe, 0x00]), 400, /should be PEM encoded/],
      [makeCertificate({ cn: 'old', notAfter: new Date('2021-01-01T00:00:00Z') }).certPem, 400, /expired/],
      [makeCertificate({ cn: 'x' }).certPem + makeCertificate({ cn: 'y' }).keyPem, 400, /does not belong/],
      [' '.repeat(maxUploadBytes + 1), 413, /at most/],
    ] as const) {
      const answer = await app().ask('POST', '/api/certs', { body });
      assert.equal(answer.status, status, answer.text);
      assert.match(answer.body.Message, message);
    }
  });

  test('a removed certificate is not found; adding and removing are in the change log', async () => {
    const { records } = app().application.installation;
    const received: string[] = [];
    const stop = records.onChange(topics => received.push(...topics));
    const { id } = (await upload(app(), makeCertificate({ cn: 'short' }).certPem)).body;
    const { status, body } = await app().ask('DELETE', `/api/certs/${id}`);
    assert.equal(status, 200);
    assert.deepEqual(body, { status: 'OK', message: 'success' });
    assert.equal((await app().ask('DELETE', `/api/certs/${id}`)).status, 404);
    stop();
    assert.deepEqual(received, ['certificates', 'certificates']);
    const { status: gone, body: answer } = await app().ask('GET', `/api/certs/${id}`);
    assert.equal(gone, 404);
    assert.equal(answer.Message, 'Certificate with given SHA256 fingerprint not found');
  });

  test('a certificate of another organisation is not found', async () => {
    const { accessKey: credential } = await app().stranger();
    const { id } = (await upload(app(), makeCertificate({ cn: 'foreign' }).certPem, credential)).body;
    assert.equal((await app().ask('GET', `/api/certs/${id}`)).status, 404);
    assert.equal((await app().ask('DELETE', `/api/certs/${id}`)).status, 404);
    const { body } = await app().ask('GET', '/api/certs?p=-1');
    assert.ok(!body.certs.includes(id));
    assert.equal((await app().ask('GET', `/api/certs/${id}`, { credential })).status, 200);
  });

  test('a bare public key is stored as a certificate without a private key', async () => {
    const { id } = (await upload(app(), makeCertificate({ cn: 'key only' }).publicKeyPem)).body;
    const { body } = await app().ask('GET', `/api/certs/${id}`);
    assert.equal(body.has_private, false);
    assert.match(body.subject.CommonName, /^Public Key: /);
  });
});
