import { appTexts, customCredentialTexts } from './en/admin/apps.ts';
import { catalogueTexts } from './en/admin/catalogues.ts';
import { organisationCertificateTexts, portalCertificateTexts } from './en/admin/certificates.ts';
import { changelogTexts, productClientTypeTexts } from './en/admin/changelog.ts';
import { oauthProviderTexts, portalWebhookTexts, providerTexts, webhookDeliveryTexts } from './en/admin/connections.ts';
import { mailTexts, pageTexts, postTexts, themeTexts } from './en/admin/content.ts';
import { portalCredentialTexts } from './en/admin/credentials.ts';
import { productGuideTexts, referenceTexts } from './en/admin/documents.ts';
import { adminFormTexts } from './en/admin/forms.ts';
import { invitationTexts, inviteCodeTexts, organisationRequestTexts } from './en/admin/invitations.ts';
import { labelTexts, menuTexts } from './en/admin/menus.ts';
import { organisationTexts, portalUserTexts } from './en/admin/people.ts';
import { planTexts } from './en/admin/plans.ts';
import { productImageTexts, productTexts } from './en/admin/products.ts';
import { requestTexts } from './en/admin/requests.ts';
import {
  adminProfileTexts,
  attributeTexts,
  configurationTexts,
  generalTexts,
  overviewTexts,
  portalAuditTexts,
} from './en/admin/settings.ts';
import { adminShellTexts } from './en/admin/shell.ts';
import { portalSignOnTexts } from './en/admin/sign-on.ts';
import { termsTexts } from './en/admin/terms.ts';

/** Texts of the admin app of the portal, apart from those of the dashboard, which does not load them. */
export const adminTexts = {
  shell: adminShellTexts,
  forms: adminFormTexts,
  products: productTexts,
  productImages: productImageTexts,
  guides: productGuideTexts,
  references: referenceTexts,
  changelog: changelogTexts,
  productClientTypes: productClientTypeTexts,
  plans: planTexts,
  catalogues: catalogueTexts,
  requests: requestTexts,
  apps: appTexts,
  customCredentials: customCredentialTexts,
  credentials: portalCredentialTexts,
  certificates: portalCertificateTexts,
  organisationCertificates: organisationCertificateTexts,
  users: portalUserTexts,
  organisations: organisationTexts,
  organisationRequests: organisationRequestTexts,
  invitations: invitationTexts,
  inviteCodes: inviteCodeTexts,
  providers: providerTexts,
  oauthProviders: oauthProviderTexts,
  webhooks: portalWebhookTexts,
  webhookDeliveries: webhookDeliveryTexts,
  signOn: portalSignOnTexts,
  pages: pageTexts,
  posts: postTexts,
  menus: menuTexts,
  labels: labelTexts,
  themes: themeTexts,
  mails: mailTexts,
  terms: termsTexts,
  attributes: attributeTexts,
  configuration: configurationTexts,
  general: generalTexts,
  profile: adminProfileTexts,
  audit: portalAuditTexts,
  overview: overviewTexts,
} as const;
