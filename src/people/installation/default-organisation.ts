/** Meta name of the organisation created at first start: the operator's own. */
export const defaultOrgMetaName = 'default_org';
