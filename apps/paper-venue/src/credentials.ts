/** Paper money needs no secrets: everybody who reads the documents may trade. */
export const CREDENTIALS = { key: 'paper', secret: 'paper-secret' };
