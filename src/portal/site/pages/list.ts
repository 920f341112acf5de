import { appPages } from '../apps/app-actions.ts';
import { appListPages } from '../apps/app-list.ts';
import { certificatePages } from '../apps/certificate-page.ts';
import { checkoutPages } from '../apps/checkout.ts';
import { jsonPages } from '../json/json-pages.ts';
import { notificationPages } from '../notifications/notification-page.ts';
import type { SitePage } from '../page.ts';
import { referencePages } from '../reference/pages.ts';
import { signOnPages } from '../sign-on/sign-on-pages.ts';
import { invitePages } from '../team/invite-form.ts';
import { memberListPages } from '../team/member-list.ts';
import { memberPages } from '../team/member-page.ts';
import { organisationPages } from '../team/organisation-page.ts';
import { termsPages } from '../terms/terms-page.ts';
import { trySignInPages } from '../try-it/try-sign-in.ts';
import { usagePages } from '../usage/usage-page.ts';
import { blogPages } from './blog.ts';
import { cataloguePages } from './catalogue.ts';
import { changelogPages } from './changelog.ts';
import { filePages } from './files.ts';
import { forgottenPasswordPages } from './forgotten-password.ts';
import { homePages } from './home.ts';
import { invitationPages } from './invitation.ts';
import { myAccessPages } from './my-access.ts';
import { ownAccountPages } from './own-account.ts';
import { ownAddressPages } from './own-address.ts';
import { ownAttributePages } from './own-attributes.ts';
import { ownSessionPages } from './own-sessions.ts';
import { previewPages } from './previews.ts';
import { productPages } from './product.ts';
import { profilePages } from './profile.ts';
import { registerPages } from './register.ts';
import { searchPages } from './search.ts';
import { secondFactorPages } from './second-factor.ts';
import { signInPages } from './sign-in.ts';
import { signInCodePages } from './sign-in-code.ts';
import { verifyPages } from './verify.ts';

/** Every page of the site, except those of administrators. */
export const sitePages: readonly SitePage[] = [
  ...homePages,
  ...cataloguePages,
  ...productPages,
  ...myAccessPages,
  ...changelogPages,
  ...referencePages,
  ...trySignInPages,
  ...blogPages,
  ...searchPages,
  ...signInPages,
  ...signInCodePages,
  ...signOnPages,
  ...registerPages,
  ...invitationPages,
  ...verifyPages,
  ...forgottenPasswordPages,
  ...filePages,
  ...appListPages,
  ...appPages,
  ...certificatePages,
  ...checkoutPages,
  ...usagePages,
  ...profilePages,
  ...ownAccountPages,
  ...ownAddressPages,
  ...ownAttributePages,
  ...ownSessionPages,
  ...secondFactorPages,
  ...memberListPages,
  ...invitePages,
  ...memberPages,
  ...organisationPages,
  ...termsPages,
  ...previewPages,
  ...notificationPages,
  ...jsonPages,
];
