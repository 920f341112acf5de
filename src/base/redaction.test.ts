import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { createRedactor } from './redaction.ts';

describe('redaction', () => {
  const redactorOf = (...secrets: string[]) => {
    const redactor = createRedactor();
    for (const secret of secrets) redactor.add(secret);
    return redactor.redact;
  };

  test('a secret is replaced in every spelling it takes in a message', () => {
    const redact = redactorOf('S3cret-Host', 'p"ss wörd');
    assert.equal(redact('getaddrinfo ENOTFOUND s3cret-host'), 'getaddrinfo ENOTFOUND ********');
    assert.equal(redact('{"a":"p\\"ss wörd"}'), '{"a":"********"}');
    assert.equal(redact(`?x=${encodeURIComponent('p"ss wörd')}`), '?x=********');
  });

  test('the parts of a secret URL are redacted on their own', () => {
    const redact = redactorOf('https://ann:pa%20ss@inside.example:8443/hooks/T000');
    for (const text of ['inside.example:8443', 'inside.example', 'pa%20ss', 'pa ss', '/hooks/T000'])
      assert.equal(redact(`<${text}>`), '<********>', text);
    assert.equal(redactorOf('http://inside.example')('GET / of others'), 'GET / of others');
  });

  test('the longest spelling is taken first, and a short text stays', () => {
    const redact = redactorOf('abcd', 'abcdef', 'k');
    assert.equal(redact('abcdef abcd k'), '******** ******** k');
  });

  test('secrets beyond the bound evict the oldest', () => {
    const redactor = createRedactor({ maxSecrets: 1 });
    redactor.add('first secret');
    redactor.add('second secret');
    assert.equal(redactor.redact('first secret, second secret'), 'first secret, ********');
  });
});
