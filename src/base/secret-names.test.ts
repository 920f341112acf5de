import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isSecretName } from './secret-names.ts';

test('names of secrets are recognised in every spelling, and addresses, lifetimes and ids of tokens are not', () => {
  const secrets = [
    ['password', 'basicPassword', 'passwd', 'key_passphrase', 'passcode', 'db_pass'],
    ['secret', 'clientSecret', 'shared_secret', 'hmac_string', 'access_token', 'refreshToken', 'token'],
    ['api_key', 'X-Api-Key', 'accessKey', 'access_key', 'private_key', 'privateKey', 'otp', 'private'],
  ].flat();
  assert.deepEqual(
    secrets.filter(name => !isSecretName(name)),
    [],
  );
  const others = ['tokenUrl', 'token_endpoint', 'tokens', 'bypass_cache', 'passthrough', 'key', 'keyId', 'privately'];
  assert.deepEqual(others.filter(isSecretName), []);
});
