import assert from 'node:assert/strict';
import { test } from 'node:test';
import { onEveryEngine } from '../../../tests/support/app.ts';
import { addPlan, addProduct } from '../../../tests/support/portal.ts';

onEveryEngine('Offers behind which policies are', app => {
  const listOffers = async (ids: readonly string[], credential?: string) => {
    const asked = credential === undefined ? {} : { credential };
    const { status, body } = await app().ask('GET', `/api/portal/offers?policy_ids=${ids.join(',')}`, asked);
    assert.equal(status, 200);
    return body.offers as { policy_id: string; kind: string; name: string }[];
  };

  test('the policies of products and plans are listed with their names, and no others', async () => {
    const [plan, product] = [
      await addPlan(app(), { DisplayName: 'Free' }),
      await addProduct(app(), { Name: 'parcels' }),
    ];
    const { body: own } = await app().ask('POST', '/api/portal/policies', { body: { name: `own ${plan.Name}` } });
    assert.deepEqual(await listOffers([plan.ReferenceID, product.ReferenceID, own.Message, 'unknown']), [
      { policy_id: product.ReferenceID, kind: 'product', name: product.DisplayName || 'parcels' },
      { policy_id: plan.ReferenceID, kind: 'plan', name: 'Free' },
    ]);
    assert.deepEqual(await listOffers([]), []);
  });

  test('another organisation learns nothing of them', async () => {
    const plan = await addPlan(app());
    const stranger = await app().stranger();
    assert.deepEqual(await listOffers([plan.ReferenceID], stranger.accessKey), []);
  });
});
