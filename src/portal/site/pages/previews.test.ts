import assert from 'node:assert/strict';
import { test } from 'node:test';
import { onEveryEngine } from '../../../../tests/support/app.ts';
import { addSiteDeveloper } from '../../../../tests/support/portal-site.ts';
import { createSiteClient, signedInClient } from '../../../../tests/support/site-client.ts';

onEveryEngine('preview of a mail as a document', app => {
  const path = '/portal/private/mail-preview';

  test('an administrator gets the HTML of a draft with sample data, which may run and load nothing', async () => {
    const admin = await signedInClient(app(), await addSiteDeveloper(app(), { Role: 'provider-admin' }));
    const Html = '<p style="color:red">Dear {{.user.First}}</p><script>alert(1)</script>';
    const { status, text, headers } = await admin.post(path, { mail: 'approve', Html });
    assert.equal(status, 200);
    assert.match(text, /^<p style="color:red">Dear \w+<\/p>/);
    assert.equal(headers.get('content-type'), 'text/html; charset=utf-8');
    assert.equal(
      headers.get('content-security-policy'),
      "default-src 'none'; style-src 'unsafe-inline'; img-src data:; frame-ancestors 'self'; sandbox",
    );
    assert.equal(headers.get('cache-control'), 'no-store');
    assert.match((await admin.post(path, { mail: 'approve' })).text, /<html|<!doctype/i);
  });

  test('a broken template, an unknown mail, a forged form and other visitors get no document', async () => {
    const admin = await signedInClient(app(), await addSiteDeveloper(app(), { Role: 'provider-admin' }));
    assert.equal((await admin.post(path, { mail: 'approve', Html: '{{if}}' })).status, 422);
    assert.equal((await admin.post(path, { mail: 'none' })).status, 404);
    assert.equal((await admin.post(path, { mail: 'approve', csrf_token: 'x' })).status, 403);
    const developer = await signedInClient(app(), await addSiteDeveloper(app()));
    assert.equal((await developer.post(path, { mail: 'approve' })).status, 404);
    assert.equal((await createSiteClient(app()).post(path, { mail: 'approve' })).status, 303);
  });
});
