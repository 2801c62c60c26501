/* A harness in C11 for the conformance suite: conformance/PROTOCOL.md.
 *
 *     cc -O2 -o harness top_n_sigma.c -lm
 *
 * The sampler comes first and knows nothing of the protocol. To check an engine, replace
 * accepts() and top_n_sigma() by calls of it, and the claims in CLAIMS by its own.
 */

#include <float.h>
#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#if defined __FAST_MATH__ || (defined __FINITE_MATH_ONLY__ && __FINITE_MATH_ONLY__)
#error "-ffast-math lets the compiler assume that there is no NaN and no infinity (TNS-1, TNS-3)"
#endif

static const char CLAIMS[] =
    "{\"type\":\"hello\",\"protocol\":1,\"name\":\"top_n_sigma.c\",\"version\":\"1.0\","
    "\"dtypes\":[\"float32\",\"float16\",\"bfloat16\"],\"extreme\":true}";

static bool accepts(double n)
{
    return n > 0 && n <= DBL_MAX;
}

/* One row, in place. n is one that accepts() accepts. Nothing but -INFINITY is ever stored: a
 * logit that was loaded and stored again could lose its NaN payload on the way. */
static void top_n_sigma(float *logits, size_t tokens, double n)
{
    double sum = 0, squares = 0, lowest = INFINITY, highest = -INFINITY;
    for (size_t i = 0; i < tokens; i++) {
        if (!isfinite(logits[i]))
            return;
        sum += logits[i];
        lowest = logits[i] < lowest ? logits[i] : lowest;
        highest = logits[i] > highest ? logits[i] : highest;
    }
    if (tokens < 2 || lowest == highest)
        return;
    /* The square of a float neither overflows nor vanishes in a double. */
    double mean = sum / (double)tokens;
    for (size_t i = 0; i < tokens; i++) {
        double deviation = logits[i] - mean;
        squares += deviation * deviation;
    }
    double sigma = sqrt(squares / (double)(tokens - 1));
    double threshold = highest - n * sigma;
    for (size_t i = 0; i < tokens; i++)
        if (logits[i] < threshold)
            logits[i] = -INFINITY;
}

/* What follows is the protocol; for another sampler nothing in it has to change. */

static void *allocate(void *old, size_t size)
{
    void *memory = realloc(old, size ? size : 1);
    if (!memory) {
        fprintf(stderr, "out of memory: %zu bytes\n", size);
        exit(1);
    }
    return memory;
}

static void broken(const char *what)
{
    fprintf(stderr, "not a message of the protocol: %s\n", what);
    exit(1);
}

/* A line of any length without its end, or NULL at the end of the input. Free it. */
static char *read_line(void)
{
    size_t size = 1 << 16, length = 0;
    char *line = allocate(NULL, size);
    while (fgets(line + length, (int)(size - length), stdin)) {
        length += strlen(line + length);
        if (length && line[length - 1] == '\n') {
            line[length - 1] = '\0';
            return line;
        }
        if (size - length < size / 2)
            line = allocate(line, size *= 2);
    }
    free(line);
    return NULL;
}

/* JSON. A value is a pointer to its first character in the line. */

static const char *skip_space(const char *at)
{
    return at + strspn(at, " \t\r\n");
}

static const char *string_end(const char *at)
{
    for (at++; *at != '"'; at++) {
        if (*at == '\\')
            at++;
        if (!*at)
            broken("a string without an end");
    }
    return at + 1;
}

/* The first character after a value. */
static const char *value_end(const char *at)
{
    size_t depth = 0;
    do {
        if (*at == '"') {
            at = string_end(at);
        } else if (*at == '{' || *at == '[') {
            depth++;
            at++;
        } else if (*at == '}' || *at == ']') {
            depth--;
            at++;
        } else if (depth) {
            at++;
        } else {
            at += strcspn(at, ",]} \t\r\n");
        }
        if (depth && !*at)
            broken("an object or array without an end");
    } while (depth);
    return at;
}

/* The text of a JSON string, escapes resolved. Free it. What is not ASCII becomes '?' when it is
 * escaped: no name of the protocol has it. */
static char *string(const char *at)
{
    if (*at != '"')
        broken("no string where one belongs");
    const char *end = string_end(at) - 1;
    char *text = allocate(NULL, (size_t)(end - at)), *to = text;
    for (at++; at < end; at++) {
        static const char letters[] = "bfnrt";
        const char *letter;
        if (*at != '\\') {
            *to++ = *at;
        } else if (*++at == 'u') {
            unsigned code = 0;
            if (end - at < 5 || sscanf(at + 1, "%4x", &code) != 1)
                broken("\\u without four digits");
            *to++ = code < 0x80 ? (char)code : '?';
            at += 4;
        } else {
            letter = strchr(letters, *at);
            *to++ = letter ? "\b\f\n\r\t"[letter - letters] : *at;
        }
    }
    *to = '\0';
    return text;
}

static bool is_string(const char *at, const char *text)
{
    if (!at || *at != '"')
        return false;
    char *decoded = string(at);
    bool same = strcmp(decoded, text) == 0;
    free(decoded);
    return same;
}

/* The value of each of `names` in an object; NULL where there is none. */
static void members(const char *at, size_t count, const char *const *names, const char **values)
{
    for (size_t i = 0; i < count; i++)
        values[i] = NULL;
    at = skip_space(at);
    if (*at != '{')
        broken("not an object");
    at = skip_space(at + 1);
    while (*at == '"') {
        const char *name = at;
        at = skip_space(string_end(at));
        if (*at != ':')
            broken("a name without a value");
        at = skip_space(at + 1);
        for (size_t i = 0; i < count; i++)
            if (is_string(name, names[i]))
                values[i] = at;
        at = skip_space(value_end(at));
        if (*at == ',')
            at = skip_space(at + 1);
    }
    if (*at != '}')
        broken("an object without an end");
}

/* Base64, RFC 4648. */

static const char ALPHABET[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

/* Decodes in place and returns the number of bytes, or SIZE_MAX where it is not base64. */
static size_t decode_base64(char *text)
{
    int8_t value[256];
    memset(value, -1, sizeof value);
    for (int i = 0; i < 64; i++)
        value[(unsigned char)ALPHABET[i]] = (int8_t)i;
    size_t length = strlen(text), bytes = 0;
    if (length % 4)
        return SIZE_MAX;
    size_t padding = 0;
    while (padding < 2 && padding < length && text[length - padding - 1] == '=')
        padding++;
    uint32_t group = 0;
    for (size_t i = 0; i < length; i++) {
        int digit = i < length - padding ? value[(unsigned char)text[i]] : 0;
        if (digit < 0)
            return SIZE_MAX;
        group = group << 6 | (uint32_t)digit;
        if (i % 4 == 3) {
            text[bytes++] = (char)(group >> 16);
            text[bytes++] = (char)(group >> 8);
            text[bytes++] = (char)group;
        }
    }
    return bytes - padding;
}

static void print_base64(const unsigned char *bytes, size_t count)
{
    char *text = allocate(NULL, (count + 2) / 3 * 4), *to = text;
    for (size_t i = 0; i < count; i += 3) {
        uint32_t group = (uint32_t)bytes[i] << 16;
        if (i + 1 < count)
            group |= (uint32_t)bytes[i + 1] << 8;
        if (i + 2 < count)
            group |= bytes[i + 2];
        *to++ = ALPHABET[group >> 18];
        *to++ = ALPHABET[group >> 12 & 63];
        *to++ = i + 1 < count ? ALPHABET[group >> 6 & 63] : '=';
        *to++ = i + 2 < count ? ALPHABET[group & 63] : '=';
    }
    fwrite(text, 1, (size_t)(to - text), stdout);
    free(text);
}

/* Logits: little-endian bytes to float and back. What is widened is a float exactly, and on the
 * way back there is nothing else than that and -INFINITY. */

enum dtype { FLOAT32, FLOAT16, BFLOAT16, UNKNOWN };

static float from_bits(uint32_t bits)
{
    float value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

static uint32_t to_bits(float value)
{
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

static uint32_t widen_half(uint32_t half)
{
    uint32_t sign = (half & 0x8000) << 16, exponent = half >> 10 & 31, fraction = half & 1023;
    if (exponent == 0)
        return sign | to_bits((float)fraction * 0x1p-24f);
    return sign | (exponent == 31 ? 255 : exponent + 112) << 23 | fraction << 13;
}

static uint32_t narrow_half(uint32_t bits)
{
    uint32_t sign = bits >> 16 & 0x8000, exponent = bits >> 23 & 255, fraction = bits >> 13 & 1023;
    if (exponent == 255)
        return sign | 0x7C00 | fraction;
    if (exponent < 113)
        return sign | (uint32_t)(from_bits(bits & 0x7FFFFFFF) * 0x1p24f);
    return sign | (exponent - 112) << 10 | fraction;
}

static void load(float *logits, const unsigned char *bytes, size_t count, enum dtype dtype)
{
    for (size_t i = 0; i < count; i++) {
        uint32_t bits;
        if (dtype == FLOAT32) {
            bits = bytes[4 * i] | (uint32_t)bytes[4 * i + 1] << 8 |
                   (uint32_t)bytes[4 * i + 2] << 16 | (uint32_t)bytes[4 * i + 3] << 24;
        } else {
            bits = bytes[2 * i] | (uint32_t)bytes[2 * i + 1] << 8;
            bits = dtype == FLOAT16 ? widen_half(bits) : bits << 16;
        }
        memcpy(logits + i, &bits, sizeof bits);
    }
}

static void store(unsigned char *bytes, const float *logits, size_t count, enum dtype dtype)
{
    size_t width = dtype == FLOAT32 ? 4 : 2;
    for (size_t i = 0; i < count; i++) {
        uint32_t bits;
        memcpy(&bits, logits + i, sizeof bits);
        if (dtype != FLOAT32)
            bits = dtype == FLOAT16 ? narrow_half(bits) : bits >> 16;
        for (size_t byte = 0; byte < width; byte++)
            bytes[width * i + byte] = (unsigned char)(bits >> 8 * byte);
    }
}

/* Messages. */

static void answer_message(const char *type, const char *id, const char *start, const char *text,
                           size_t length)
{
    printf("{\"type\":\"%s\",\"id\":%ld,\"message\":\"%s", type, strtol(id, NULL, 10), start);
    for (size_t i = 0; i < length; i++) {
        if (text[i] == '"' || text[i] == '\\')
            putchar('\\');
        putchar(text[i]);
    }
    fputs("\"}\n", stdout);
}

/* What is no number becomes NaN, which accepts() rejects as it would a NaN of its caller. */
static double parse_n(const char *at)
{
    if (*at == '-' || (*at >= '0' && *at <= '9'))
        return strtod(at, NULL);
    if (*at == '{') {
        const char *invalid;
        members(at, 1, (const char *const[]){"invalid"}, &invalid);
        if (is_string(invalid, "inf"))
            return INFINITY;
        if (is_string(invalid, "-inf"))
            return -INFINITY;
    }
    return NAN;
}

/* The message shows n as it stands in the line, or what an {"invalid": …} stands for. */
static void answer_rejected(const char *id, const char *at)
{
    const size_t limit = 80;
    const char *invalid = NULL;
    if (*at == '{')
        members(at, 1, (const char *const[]){"invalid"}, &invalid);
    if (invalid && *invalid == '"')
        at = invalid;
    size_t length = (size_t)(value_end(at) - at);
    if (at == invalid) {
        at++;
        length -= 2;
    }
    if (length > limit)
        /* A character of several bytes must not be cut. */
        for (length = limit; ((unsigned char)at[length] & 0xC0) == 0x80;)
            length--;
    answer_message("rejected", id, "n must be a finite number > 0; got ", at, length);
}

static enum dtype dtype_of(const char *at)
{
    return is_string(at, "float32")    ? FLOAT32
           : is_string(at, "float16")  ? FLOAT16
           : is_string(at, "bfloat16") ? BFLOAT16
                                       : UNKNOWN;
}

enum { TYPE, PROTOCOL, ID, DTYPE, ROWS, TOKENS, N, LOGITS, MEMBERS };

static const char *const NAMES[MEMBERS] = {"type", "protocol", "id", "dtype",
                                           "rows", "tokens",   "n",  "logits"};

static void answer_hello(const char *const *message)
{
    if (!message[PROTOCOL] || strtol(message[PROTOCOL], NULL, 10) != 1) {
        fputs("this harness speaks protocol 1\n", stderr);
        exit(1);
    }
    puts(CLAIMS);
}

/* n of every row into `n`, NaN where it is null. False where an entry was rejected, and answered.
 * Every n is looked at before any logit is changed (TNS-1). */
static bool read_n(const char *const *message, size_t rows, double *n)
{
    const char *at = message[N];
    for (size_t row = 0; row < rows; row++) {
        if (*at != (row ? ',' : '['))
            broken("n has another length than rows");
        at = skip_space(at + 1);
        n[row] = parse_n(at);
        if (*at != 'n' && !accepts(n[row])) {
            answer_rejected(message[ID], at);
            return false;
        }
        at = skip_space(value_end(at));
    }
    if (*at != ']')
        broken("n has another length than rows");
    return true;
}

static void answer_apply(const char *const *message)
{
    for (size_t i = ID; i < MEMBERS; i++)
        if (!message[i])
            broken(NAMES[i]);
    size_t rows = strtoul(message[ROWS], NULL, 10), tokens = strtoul(message[TOKENS], NULL, 10);
    enum dtype dtype = dtype_of(message[DTYPE]);
    char *bytes = string(message[LOGITS]);
    double *n = allocate(NULL, rows * sizeof *n);
    float *logits = allocate(NULL, rows * tokens * sizeof *logits);
    if (dtype == UNKNOWN) {
        answer_message("error", message[ID], "dtype is none of those claimed", "", 0);
    } else if (decode_base64(bytes) != rows * tokens * (dtype == FLOAT32 ? 4 : 2)) {
        answer_message("error", message[ID], "logits are not base64 of B x V values", "", 0);
    } else if (read_n(message, rows, n)) {
        load(logits, (unsigned char *)bytes, rows * tokens, dtype);
        for (size_t row = 0; row < rows; row++)
            if (!isnan(n[row]))
                top_n_sigma(logits + row * tokens, tokens, n[row]);
        store((unsigned char *)bytes, logits, rows * tokens, dtype);
        printf("{\"type\":\"result\",\"id\":%ld,\"logits\":\"", strtol(message[ID], NULL, 10));
        print_base64((unsigned char *)bytes, rows * tokens * (dtype == FLOAT32 ? 4 : 2));
        fputs("\"}\n", stdout);
    }
    free(logits);
    free(n);
    free(bytes);
}

int main(void)
{
    char *line;
    while ((line = read_line())) {
        const char *message[MEMBERS];
        members(line, MEMBERS, NAMES, message);
        if (is_string(message[TYPE], "hello"))
            answer_hello(message);
        else if (is_string(message[TYPE], "apply"))
            answer_apply(message);
        else
            broken("type");
        fflush(stdout);
        free(line);
    }
    return 0;
}
