/** Times in milliseconds, sizes in bytes. */
export const second = 1000;
export const minute = 60 * second;
export const hour = 60 * minute;
export const day = 24 * hour;
export const kibibyte = 1024;
export const mebibyte = 1024 * kibibyte;
