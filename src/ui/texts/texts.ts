import { analyticsTexts } from './en/analytics.ts';
import { apiTexts } from './en/apis.ts';
import { certificateTexts, oauthClientTexts } from './en/certificates.ts';
import { consumerTexts } from './en/consumers.ts';
import { designerTexts } from './en/designer.ts';
import { groupTexts } from './en/groups.ts';
import { historyTexts } from './en/history.ts';
import { homeTexts } from './en/home.ts';
import { keyTexts } from './en/keys.ts';
import { libraryTexts } from './en/library.ts';
import { limitTexts } from './en/limits.ts';
import { logTexts } from './en/logs.ts';
import { migrationTexts } from './en/migration.ts';
import { pickerTexts } from './en/pickers.ts';
import { policyTexts } from './en/policies.ts';
import { profileTexts } from './en/profile.ts';
import { settingsTexts } from './en/settings.ts';
import { signInTexts } from './en/sign-in.ts';
import { tryApiTexts } from './en/try-api.ts';
import { userTexts } from './en/users.ts';
import { deliveryTexts } from './en/webhooks.ts';
import { welcomeTexts } from './en/welcome.ts';
import { sharedTexts } from './shared-texts.ts';

/**
 * Texts of the dashboard, one file for each area; the first page loads all of them. The import of APIs and pages of
 * versions, endpoints, webhooks, deleted objects, GraphQL, MCP, sign-on profiles and the system import the file of
 * their area, which is loaded with them.
 */
export const texts = {
  ...sharedTexts,
  signIn: signInTexts,
  home: homeTexts,
  apis: apiTexts,
  designer: designerTexts,
  history: historyTexts,
  tryApi: tryApiTexts,
  consumers: consumerTexts,
  keys: keyTexts,
  limits: limitTexts,
  policies: policyTexts,
  pickers: pickerTexts,
  logs: logTexts,
  analytics: analyticsTexts,
  users: userTexts,
  groups: groupTexts,
  profile: profileTexts,
  certificates: certificateTexts,
  oauthClients: oauthClientTexts,
  deliveries: deliveryTexts,
  library: libraryTexts,
  migration: migrationTexts,
  settings: settingsTexts,
  welcome: welcomeTexts,
} as const;
