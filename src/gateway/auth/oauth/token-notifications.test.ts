import assert from 'node:assert/strict';
import { after, before, beforeEach, describe, test } from 'node:test';
import { oauthDefinition, openOauthProvider, redirectUri } from '../../../../tests/support/oauth-provider.ts';
import { type Publisher, startPublisher } from '../../../../tests/support/tokens.ts';
import { eventually } from '../../../../tests/support/upstream.ts';
import type { Api } from '../../routing/api.ts';

describe('OAuth provider', () => {
  const { bench, token, newCode } = openOauthProvider();

  describe('token notifications', () => {
    let receiver: Publisher;
    let notifyingApi: Api;
    before(async () => {
      receiver = await startPublisher();
      const notifications = { shared_secret: 'between us', oauth_on_keychange_url: `${receiver.url}/notified` };
      notifyingApi = await bench().compile(oauthDefinition({}, { notifications }));
    });
    after(() => receiver.close());
    beforeEach(() => {
      receiver.bodies = [];
      receiver.isUnavailable = false;
      receiver.pages['/notified'] = {};
    });

    test('every token is notified, with the shared secret', async () => {
      const code = await newCode();
      const first = (
        await token(
          { grant_type: 'authorization_code', code, redirect_uri: redirectUri },
          'shop',
          'shop secret',
          notifyingApi,
        )
      ).json;
      await eventually(() => assert.equal(receiver.bodies.length, 1));
      assert.equal(receiver.bodies[0]!.headers['x-gw-shared-secret'], 'between us');
      assert.deepEqual(JSON.parse(receiver.bodies[0]!.body), {
        auth_code: code,
        old_refresh_token: '',
        notification_type: 'new',
        new_oauth_token: first.access_token,
        refresh_token: first.refresh_token,
      });
      const { refresh_token } = first;
      const second = (await token({ grant_type: 'refresh_token', refresh_token }, 'shop', 'shop secret', notifyingApi))
        .json;
      await eventually(() => assert.equal(receiver.bodies.length, 2));
      assert.deepEqual(JSON.parse(receiver.bodies[1]!.body), {
        auth_code: '',
        old_refresh_token: refresh_token,
        notification_type: 'refresh',
        new_oauth_token: second.access_token,
        refresh_token: second.refresh_token,
      });
    });

    test('a notification is attempted three times at most, and no request waits for it', async () => {
      receiver.isUnavailable = true;
      const given: string[] = [];
      const listNotified = () => receiver.bodies.map(({ body }) => given.indexOf(JSON.parse(body).new_oauth_token));
      const give = async () => {
        const { status, json } = await token({ grant_type: 'client_credentials' }, 'shop', 'shop secret', notifyingApi);
        assert.equal(status, 200);
        given.push(json.access_token);
      };
      await give();
      await eventually(() => assert.deepEqual(listNotified(), [0, 0, 0]));
      receiver.isUnavailable = false;
      await give();
      await eventually(() => assert.deepEqual(listNotified(), [0, 0, 0, 1]));
      await give();
      await eventually(() => assert.deepEqual(listNotified(), [0, 0, 0, 1, 2], 'a notice that was taken is sent once'));
    });
  });
});
