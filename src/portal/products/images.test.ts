import assert from 'node:assert/strict';
import { test } from 'node:test';
import { onEveryEngine } from '../../../tests/support/app.ts';
import { imageHeads } from '../../../tests/support/image-heads.ts';
import { addProduct, requestPortal, toFileForm } from '../../../tests/support/portal.ts';
import { createPortalFileStore } from '../files/store.ts';

const images = Object.fromEntries(
  Object.entries(imageHeads).map(([type, build]) => [type, new Uint8Array(build([700, 400]))]),
) as Record<keyof typeof imageHeads, Uint8Array<ArrayBuffer>>;

onEveryEngine('images of portal products', app => {
  const post = (path: string, content: string | Uint8Array<ArrayBuffer>, name?: string) =>
    app().ask('POST', path, { body: toFileForm(content, name) });

  test('an uploaded logo is returned byte by byte with the media type of its content', async () => {
    const { ID, CID } = await addProduct(app());
    for (const [type, bytes] of Object.entries(images)) {
      const stored = await post(`/portal-api/products/${ID}/logo`, bytes, '../../logo.svg');
      assert.deepEqual([stored.status, stored.body], [200, { status: 'ok' }], stored.text);
      const response = await fetch(`${app().url.portal}/portal-api/products/${CID}/logo`, {
        headers: { authorization: app().credentials.portal_token },
      });
      assert.equal(response.headers.get('content-type'), type);
      assert.equal(response.headers.get('x-content-type-options'), 'nosniff');
      assert.deepEqual(new Uint8Array(await response.arrayBuffer()), bytes);
    }
    assert.equal((await app().ask('GET', `/portal-api/products/${ID}/logo`, { credential: null })).status, 401);
  });

  test('a product names its images, and the preview falls back to the logo', async () => {
    const { ID, Logo, Preview } = await addProduct(app());
    assert.deepEqual([Logo, Preview], ['', '']);
    const path = `/portal-api/products/${ID}`;
    const missing = await app().ask('GET', `/portal-api/products/${ID}/preview`);
    assert.deepEqual([missing.status, missing.body.errors], [400, ['The product has no preview']]);
    await post(`/portal-api/products/${ID}/logo`, images['image/png']);
    const named = await requestPortal(app(), 'GET', path);
    assert.deepEqual([named.Logo, named.Preview], [`${path}/logo`, `${path}/preview`]);
    const read = async () => (await app().ask('GET', `/portal-api/products/${ID}/preview`)).headers.get('content-type');
    assert.equal(await read(), 'image/png');
    await post(`/portal-api/products/${ID}/preview`, images['image/gif']);
    assert.equal(await read(), 'image/gif');
    const changed = await requestPortal(app(), 'PUT', path, { ...named, Description: 'Kept images' });
    assert.deepEqual([changed.Logo, changed.Preview], [named.Logo, named.Preview]);
    assert.deepEqual(await requestPortal(app(), 'DELETE', `/portal-api/products/${ID}/preview`), { status: 'ok' });
    await requestPortal(app(), 'DELETE', `/portal-api/products/${ID}/logo`);
    assert.equal((await requestPortal(app(), 'GET', path)).Preview, '');
    for (const image of ['logo', 'preview']) {
      const again = await app().ask('DELETE', `/portal-api/products/${ID}/${image}`);
      assert.deepEqual([again.status, again.body.errors], [400, [`The product has no ${image}`]]);
    }
  });

  test('content that is no raster image is refused, whatever its name', async () => {
    const { ID } = await addProduct(app());
    const svg = '<svg xmlns="http://www.w3.org/2000/svg"><script>alert(1)</script></svg>';
    for (const image of ['logo', 'preview'])
      for (const content of [svg, '<html></html>', 'GIF8', '\x89PNG']) {
        const { status, body } = await post(`/portal-api/products/${ID}/${image}`, content, 'logo.png');
        assert.equal(status, 400);
        assert.match(body.errors[0], /^file: must be a PNG, JPEG, GIF or WebP image/);
      }
    assert.equal((await app().ask('GET', `/portal-api/products/${ID}/logo`)).status, 400);
  });

  test('an image that declares very many pixels, or no size, is refused and changes nothing', async () => {
    const { ID } = await addProduct(app());
    for (const image of ['logo', 'preview'])
      for (const [type, build] of Object.entries(imageHeads)) {
        const huge = await post(`/portal-api/products/${ID}/${image}`, new Uint8Array(build([60_000, 50_000])));
        const message = 'file: the image has 60000 × 50000 pixels: at most 4096 on a side';
        assert.deepEqual([huge.status, huge.body.errors], [400, [message]], type);
        const cut = await post(`/portal-api/products/${ID}/${image}`, new Uint8Array(build([10, 10]).subarray(0, 12)));
        assert.equal(cut.status, 400, type);
        assert.match(cut.body.errors[0], /^file: must be a PNG/);
      }
    assert.equal((await requestPortal(app(), 'GET', `/portal-api/products/${ID}`)).Logo, '');
  });

  test('a form without a file, with two files, and an oversized one are refused', async () => {
    const { ID } = await addProduct(app());
    const path = `/portal-api/products/${ID}/logo`;
    const empty = new FormData();
    empty.append('file', 'text');
    const two = toFileForm(images['image/png']);
    two.append('second', new Blob(['x']), 'b.png');
    for (const [body, message] of [
      [empty, /file: is required/],
      [toFileForm(''), /file: is required/],
      [two, /the form holds two files/],
    ] as const) {
      const answer = await app().ask('POST', path, { body });
      assert.equal(answer.status, 422);
      assert.match(answer.body.errors[0], message);
    }
    assert.equal((await post(path, new Uint8Array(6_000_000))).status, 413);
  });

  test('the files of a deleted product are deleted; unknown products are 404, 422 on upload', async () => {
    const [one, other] = [await addProduct(app()), await addProduct(app())];
    const files = createPortalFileStore(app().application.installation.records);
    for (const { ID } of [one, other]) await post(`/portal-api/products/${ID}/logo`, images['image/png']);
    await requestPortal(app(), 'DELETE', `/portal-api/products/${one.ID}`);
    assert.deepEqual(await files.listSlots(`products/${one.ID}`), []);
    assert.deepEqual(await files.listSlots(`products/${other.ID}`), ['logo']);
    for (const image of ['logo', 'preview']) {
      assert.equal((await app().ask('GET', `/portal-api/products/${one.ID}/${image}`)).status, 404);
      assert.equal((await app().ask('DELETE', `/portal-api/products/${one.ID}/${image}`)).status, 404);
      assert.equal((await post(`/portal-api/products/${one.ID}/${image}`, images['image/png'])).status, 422);
    }
  });
});
