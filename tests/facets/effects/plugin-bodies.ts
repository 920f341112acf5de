import assert from 'node:assert/strict';
import type { Effect } from '../effect.ts';
import { authClassic, authOas, classic, encode, inHeader, oas, places, script } from './plugins.ts';

/** Bodies that plugins in JavaScript get as bytes. */

/** Whether the body has the two bytes of `é` as two characters. */
const hasBytes = String.raw`String(message.Body.indexOf('\u00c3\u00a9') >= 0)`;

const authScript = String.raw`var auth = new GwJS.GwMiddleware.NewMiddleware({}); auth.NewProcessRequest(function (request, session, config) {
  var rights = {}; rights[config.APIID] = { api_id: config.APIID, api_name: 'x', versions: ['Default'] };
  request.SetHeaders['X-Plugin'] = String(request.Body.indexOf('\u00c3\u00a9') >= 0);
  return auth.ReturnAuthData(request, { access_rights: rights }, 'any'); });`;

const authPlugin = { path: '', code: encode(authScript) };

export const pluginBodyEffects: readonly Effect[] = [
  ...places.map((place): Effect => {
    const hook = { code: script(place, hasBytes), rawBodyOnly: true };
    return {
      rows: `plugins.${place.name}[].rawBodyOnly`,
      promise: `a ${place.name} plugin in JavaScript gets the body as bytes where it asks for them`,
      classic: () => classic(place, hook),
      oas: () => oas(place, hook),
      async observe({ call, key, upstream }) {
        const headers = { authorization: await key({}) };
        const reply = await call('/', { method: 'POST', headers, body: 'é' });
        const received = upstream.requests.at(-1)!;
        const value = place.name === 'response' ? reply.headers.get('x-plugin') : received.headers['x-plugin'];
        assert.deepEqual([value, received.body], ['true', 'é'], reply.text);
      },
    };
  }),
  {
    rows: 'custom.rawBodyOnly',
    promise: 'a plugin in JavaScript that authenticates gets the body as bytes where it asks for them',
    classic: () => authClassic({ ...authPlugin, raw_body_only: true }, inHeader.classic),
    oas: () => authOas({ ...authPlugin, rawBodyOnly: true }, inHeader.oas),
    async observe({ call, upstream }) {
      const reply = await call('/', { method: 'POST', headers: { 'x-pass': 'me' }, body: 'é' });
      assert.equal(upstream.requests.at(-1)!.headers['x-plugin'], 'true', reply.text);
    },
  },
];
