/**
 * One text for all tests of an address without a response: one that the outbound client refuses, one without a listener
 * and one that is silent must not be distinguished.
 */
export const noResponse = 'no response: check the address, its certificate, and that the portal may and can reach it';
