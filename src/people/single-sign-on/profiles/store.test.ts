import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createPublicId } from '#base/ids.ts';
import { onEveryEngine } from '../../../../tests/support/app.ts';
import { createIdentityProfileStore } from './store.ts';

onEveryEngine('identity profile store', app => {
  const installation = () => app().application.installation;
  const openStore = () => createIdentityProfileStore(installation().records, installation().services.vault, 2);

  async function createProfile(Name = 'Staff') {
    const provider = {
      Name: 'openid-connect',
      Key: 'client',
      Secret: '',
      DiscoverURL: 'https://idp.example/.well-known/openid-configuration',
    };
    const body = { Name, ProviderName: 'SocialProvider', ProviderConfig: { UseProviders: [provider] } };
    const { body: created, text } = await app().ask('POST', '/api/sso/profiles', { body });
    assert.equal(created.Status, 'OK', text);
    return (await openStore().get(app().credentials.organisation_id, created.Meta))!;
  }

  test('an organisation has at most the given number of profiles', async () => {
    const store = openStore();
    const profile = await createProfile();
    const [full, other] = [createPublicId(), createPublicId()];
    const insert = (OrgID: string) => store.insert({ ...profile, ID: createPublicId(), OrgID });
    await insert(full);
    await insert(full);
    await assert.rejects(insert(full), /limit reached: identity profiles 2/);
    await insert(other);
  });

  test('active profiles are read once for many visitors, and again after a change or two seconds', async () => {
    const { records, services } = installation();
    const clock = { now: () => nowMs };
    let nowMs = Date.now();
    const store = createIdentityProfileStore(records, services.vault, undefined, undefined, clock);
    const profile = { ...(await createProfile()), OrgID: createPublicId() };
    const add = (ID: string, through = store) => through.insert({ ...profile, ID });
    const listIds = async () => (await store.listActive(profile.OrgID)).map(({ ID }) => ID).toSorted();
    const [first, second, third] = [createPublicId(), createPublicId(), createPublicId()];
    await add(first);
    assert.equal(store.listActive(profile.OrgID), store.listActive(profile.OrgID));
    assert.deepEqual(await listIds(), [first]);
    await add(second);
    assert.deepEqual(await listIds(), [first, second].toSorted());
    const elsewhere = createIdentityProfileStore(records, services.vault);
    await add(third, elsewhere);
    assert.deepEqual(await listIds(), [first, second].toSorted());
    nowMs += 2000;
    assert.deepEqual(await listIds(), [first, second, third].toSorted());
  });

  test('a change or removal of a profile ends the sessions it opened, and no others', async () => {
    const store = openStore();
    const { sessions } = installation().services;
    const [changed, removed, kept] = [await createProfile(), await createProfile(), await createProfile()];
    const orgId = changed.OrgID;
    for (const { ID } of [changed, removed, kept])
      await sessions.insert({ orgId, userId: 'ann', profileId: ID, address: '127.0.0.1', userAgent: '' }, Date.now());
    const listed = async () => {
      const rows = await installation()
        .records.db.selectFrom('sessions')
        .select('profile_id')
        .where('user_id', '=', 'ann')
        .execute();
      return rows.map(({ profile_id }) => profile_id);
    };
    assert.equal((await listed()).length, 3);
    await store.replace({ ...changed, Name: 'Others' });
    assert.deepEqual((await listed()).toSorted(), [removed.ID, kept.ID].toSorted());
    await store.remove(orgId, removed.ID);
    assert.deepEqual(await listed(), [kept.ID]);
  });
});
