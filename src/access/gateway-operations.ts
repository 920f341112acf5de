import { gatewayCertificateOperations } from './certificates/gw-operations.ts';
import { gatewayKeyOperations } from './keys/gw-operations.ts';
import { gatewayOrganisationKeyOperations } from './keys/gw-organisation-operations.ts';
import { gatewayOauthOperations } from './oauth/gw-operations.ts';
import { gatewayTokenOperations } from './oauth/gw-token-operations.ts';
import { gatewayPolicyOperations } from './policies/gw-operations.ts';

/** Operations on keys, policies, OAuth clients and certificates of the gateway API. */
export const gatewayAccessOperations = [
  ...gatewayKeyOperations,
  ...gatewayOrganisationKeyOperations,
  ...gatewayPolicyOperations,
  ...gatewayOauthOperations,
  ...gatewayTokenOperations,
  ...gatewayCertificateOperations,
];
