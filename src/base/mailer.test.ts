import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { createMailer } from './mailer.ts';

const options = { from: 'gateway@example.org', requireTls: true, timeoutMs: 1000 };

describe('SMTP settings', () => {
  for (const url of [
    'mail.example.org',
    'http://mail.example.org',
    'smtp://',
    'smtp://mail.example.org/inbox',
    'smtp://mail.example.org?pool=true',
    'smtp://mail.example.org#pool',
    'smtp://user%zz:secret@mail.example.org',
    'smtp://user:secret%@mail.example.org',
  ])
    test(`mail.smtp_url ${url} is refused at the start`, () => {
      assert.throws(() => createMailer({ ...options, url }), { code: 'mail.url_invalid' });
    });

  test('a server without mail.from is refused at the start', () => {
    const url = 'smtp://user%40a:secret@127.0.0.1:25';
    assert.throws(() => createMailer({ ...options, url, from: '' }), { code: 'mail.from_missing' });
  });

  test('without a server no mail is sent', async () => {
    const mailer = createMailer({ ...options, url: '' });
    assert.equal(mailer.isConfigured, false);
    const sent = mailer.send({ to: 'ann@example.org', subject: 'a', text: 'b' });
    await assert.rejects(sent, { code: 'mail.not_configured' });
  });
});
