import { analyticsTexts } from './en/analytics.ts';
import { apiTexts } from './en/apis.ts';
import { homeTexts } from './en/home.ts';
import { keyTexts } from './en/keys.ts';
import { kitTexts } from './en/kit.ts';
import { limitTexts } from './en/limits.ts';
import { logTexts } from './en/logs.ts';
import { pickerTexts } from './en/pickers.ts';
import { policyTexts } from './en/policies.ts';
import { shellTexts } from './en/shell.ts';
import { signInTexts } from './en/sign-in.ts';
import { userTexts } from './en/users.ts';
import { deliveryTexts, webhookTexts } from './en/webhooks.ts';
import { welcomeTexts } from './en/welcome.ts';

/** Texts of the web apps, one file for each area. A translation is another object of this type. */
export const texts = {
  kit: kitTexts,
  shell: shellTexts,
  signIn: signInTexts,
  home: homeTexts,
  apis: apiTexts,
  keys: keyTexts,
  limits: limitTexts,
  policies: policyTexts,
  pickers: pickerTexts,
  logs: logTexts,
  analytics: analyticsTexts,
  users: userTexts,
  webhooks: webhookTexts,
  deliveries: deliveryTexts,
  welcome: welcomeTexts,
} as const;
