import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { computeTotp, createRecoveryCode, createTotpSecret, findTotpStep, formatTotpUri, toTotpStep } from './totp.ts';

describe('TOTP', () => {
  /** The ASCII secret `12345678901234567890` of RFC 6238, appendix B. */
  const secret = 'GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ';

  test('codes are those of RFC 6238, appendix B', () => {
    const vectors = { 59: '287082', 1111111109: '081804', 1111111111: '050471', 2000000000: '279037' };
    for (const [seconds, code] of Object.entries(vectors))
      assert.equal(computeTotp(secret, toTotpStep(Number(seconds) * 1000)), code);
    assert.equal(computeTotp(secret, toTotpStep(20000000000 * 1000)), '353130');
  });

  test('a code is accepted one step before and after its own, with the step it belongs to', () => {
    const step = toTotpStep(1_111_111_111_000);
    const code = computeTotp(secret, step);
    for (const drift of [-1, 0, 1]) assert.equal(findTotpStep(secret, code, (step + drift) * 30_000), step);
    for (const drift of [-2, 2]) assert.equal(findTotpStep(secret, code, (step + drift) * 30_000), undefined);
    for (const wrong of ['', '1', '0504710', '050472'])
      assert.equal(findTotpStep(secret, wrong, step * 30_000), undefined);
  });

  test('secrets have 160 bits in base32, recovery codes 80 bits in four groups', () => {
    assert.match(createTotpSecret(), /^[A-Z2-7]{32}$/);
    assert.match(createRecoveryCode(), /^([a-z0-9]{4}-){3}[a-z0-9]{4}$/);
    assert.notEqual(createTotpSecret(), createTotpSecret());
    assert.notEqual(createRecoveryCode(), createRecoveryCode());
    assert.equal(
      formatTotpUri('Gate wright', 'a@example.org', 'ABC'),
      'otpauth://totp/Gate%20wright:a%40example.org?secret=ABC&issuer=Gate%20wright',
    );
  });
});
