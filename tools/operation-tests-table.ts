/** Operations whose tests build the path in a helper, by test file. */
export const testsByHelper: Readonly<Record<string, readonly string[]>> = {
  'src/people/groups/groups.test.ts': ['listUsersOfGroup'],
  'src/people/sessions/passkeys.test.ts': ['removePasskey'],
  'src/apis/oas/details.test.ts': ['exportDocument', 'exportDocuments', 'listDocumentUrls'],
  'src/apis/examples/examples.test.ts': ['getExample'],
  'src/analytics/analytics.test.ts': ['activityOfKey', 'activityOfOAuthClient'],
  'src/analytics/activity.test.ts': ['activityOfKeys', 'endpointsOfKey', 'endpointsOfOAuthClient'],
  'src/portal/providers/providers.test.ts': ['listProviders', 'deleteProvider', 'synchronizeProvider'],
  'src/portal/products/products.test.ts': ['listProducts'],
  'src/portal/catalogues/catalogues.test.ts': ['deleteCatalogue'],
  'src/portal/apps/apps.test.ts': ['deleteApp', 'listAppAccessRequests'],
  'src/portal/credentials/credentials.test.ts': [
    'getAppAccessRequest',
    'deleteAppAccessRequest',
    'listCredentials',
    'getCredential',
    'deleteCredential',
    'rotateCredential',
  ],
  'src/portal/access-requests/access-requests.test.ts': [
    'listAccessRequests',
    'getAccessRequest',
    'approveAccessRequest',
  ],
  'src/portal/posts/posts.test.ts': [
    'listPostCategories',
    'attachPostCategory',
    'detachPostCategory',
    'listPostTags',
    'attachPostTag',
    'detachPostTag',
  ],
};
