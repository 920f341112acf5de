import { accessRequestOperations } from './access-requests/operations.ts';
import { relatedOperations } from './access-requests/related-operations.ts';
import { appOperations } from './apps/operations.ts';
import { attributeOperations } from './attributes/operations.ts';
import { userAttributeOperations } from './attributes/user-operations.ts';
import { portalAuditOperations } from './audit/operations.ts';
import { audienceOperations } from './catalogues/audience-operations.ts';
import { catalogueOperations } from './catalogues/operations.ts';
import { categoryOperations } from './categories/operations.ts';
import { portalCertificateOperations } from './certificates/operations.ts';
import { organisationCertificateOperations } from './certificates/organisation-operations.ts';
import { changelogOperations } from './changelog/operations.ts';
import { proposalOperations } from './changelog/proposal-operations.ts';
import { generalSettingsOperations } from './configuration/general-operations.ts';
import { portalConfigOperations } from './configuration/operations.ts';
import { listAllCredentials } from './credentials/list-operation.ts';
import { notifyCredentialOwners } from './credentials/notice-operation.ts';
import { credentialOperations } from './credentials/operations.ts';
import { customCredentialOperations } from './custom-credentials/operations.ts';
import { docOperations } from './docs/operations.ts';
import { invitationOperations } from './invitations/operations.ts';
import { inviteCodeOperations } from './invite-codes/operations.ts';
import { mailOperations } from './mails/operations.ts';
import { menuOperations } from './menus/operations.ts';
import { clientTypeOperations } from './oauth-providers/client-type-operations.ts';
import { oauthProviderOperations } from './oauth-providers/operations.ts';
import { productClientTypeOperations } from './oauth-providers/product-operations.ts';
import { organisationRequestOperations } from './organisation-requests/operations.ts';
import { portalOrganisationOperations } from './organisations/operations.ts';
import { teamOperations } from './organisations/team-operations.ts';
import { getPortalOverview } from './overview/operations.ts';
import { blockOperations } from './pages/block-operations.ts';
import { pageOperations } from './pages/operations.ts';
import { planOperations } from './plans/operations.ts';
import { apiDetailOperations } from './products/api-detail-operations.ts';
import { productDocumentOperations } from './products/document-operations.ts';
import { productImageOperations } from './products/image-operations.ts';
import { listPolicyOffers } from './products/offer-operations.ts';
import { productOperations } from './products/operations.ts';
import { specOperations } from './products/spec-operations.ts';
import { providerInspectionOperations } from './providers/inspection-operations.ts';
import { providerOperations } from './providers/operations.ts';
import { removePortalSecondFactor } from './second-factor/operations.ts';
import { tagOperations } from './tags/operations.ts';
import { productTagOperations } from './tags/product-operations.ts';
import { termsOperations } from './terms/operations.ts';
import { themeOperations } from './themes/operations.ts';
import { portalUserOperations } from './users/operations.ts';
import { portalSessionOperations } from './users/session-operations.ts';
import { visibilityOperations } from './visibility/operations.ts';

/** Operations of publishing and access. */
export const portalOperations = [
  ...providerOperations,
  ...providerInspectionOperations,
  ...productOperations,
  listPolicyOffers,
  ...productImageOperations,
  ...apiDetailOperations,
  ...specOperations,
  ...productDocumentOperations,
  ...productTagOperations,
  ...productClientTypeOperations,
  ...docOperations,
  ...changelogOperations,
  ...proposalOperations,
  ...tagOperations,
  ...categoryOperations,
  ...oauthProviderOperations,
  ...clientTypeOperations,
  ...planOperations,
  ...catalogueOperations,
  ...audienceOperations,
  ...portalOrganisationOperations,
  ...organisationRequestOperations,
  ...teamOperations,
  ...invitationOperations,
  ...inviteCodeOperations,
  ...termsOperations,
  ...portalUserOperations,
  removePortalSecondFactor,
  ...portalSessionOperations,
  ...userAttributeOperations,
  ...attributeOperations,
  ...appOperations,
  ...credentialOperations,
  listAllCredentials,
  notifyCredentialOwners,
  ...portalCertificateOperations,
  ...organisationCertificateOperations,
  ...customCredentialOperations,
  ...accessRequestOperations,
  ...relatedOperations,
  ...pageOperations,
  ...blockOperations,
  ...menuOperations,
  ...portalConfigOperations,
  ...generalSettingsOperations,
  ...portalAuditOperations,
  getPortalOverview,
  ...visibilityOperations,
  ...themeOperations,
  ...mailOperations,
];
