#include "test/libactors/transport/testing_certificates.hpp"

#include <doctest/doctest.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/x509.h>
#include <openssl/x509v3.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>

namespace headrace::testing {
namespace {

struct openssl_deleter {
  void operator()(EVP_PKEY* gone) const { EVP_PKEY_free(gone); }
  void operator()(X509* gone) const { X509_free(gone); }
  void operator()(std::FILE* gone) const { std::fclose(gone); }
};
using key_ptr = std::unique_ptr<EVP_PKEY, openssl_deleter>;
using certificate_ptr = std::unique_ptr<X509, openssl_deleter>;
using file_ptr = std::unique_ptr<std::FILE, openssl_deleter>;

key_ptr make_key() { return key_ptr(EVP_EC_gen("P-256")); }

certificate_ptr sign(const std::string& name, EVP_PKEY* key, X509* issuer, EVP_PKEY* issuer_key) {
  constexpr long year_s = 365L * 24 * 3'600;
  static long serial = 0;
  certificate_ptr made(X509_new());
  X509_set_version(made.get(), 2);
  ASN1_INTEGER_set(X509_get_serialNumber(made.get()), ++serial);
  X509_gmtime_adj(X509_getm_notBefore(made.get()), -3'600);
  X509_gmtime_adj(X509_getm_notAfter(made.get()), year_s);
  X509_set_pubkey(made.get(), key);
  auto* subject = X509_get_subject_name(made.get());
  X509_NAME_add_entry_by_txt(subject, "CN", MBSTRING_ASC,
                             reinterpret_cast<const unsigned char*>(name.c_str()), -1, -1, 0);
  X509_set_issuer_name(made.get(), issuer != nullptr ? X509_get_subject_name(issuer) : subject);
  if (issuer == nullptr) {
    auto* is_ca = X509V3_EXT_conf_nid(nullptr, nullptr, NID_basic_constraints, "critical,CA:TRUE");
    X509_add_ext(made.get(), is_ca, -1);
    X509_EXTENSION_free(is_ca);
  }
  REQUIRE(X509_sign(made.get(), issuer_key, EVP_sha256()) > 0);
  return made;
}

file_ptr open_for_writing(const std::string& path) {
  file_ptr made(std::fopen(path.c_str(), "w"));
  REQUIRE(made != nullptr);
  return made;
}

} // namespace

struct testing_ca::state {
  std::string directory;
  key_ptr key;
  certificate_ptr certificate;
};

testing_ca::testing_ca() : state_(std::make_unique<state>()) {
  auto pattern = (std::filesystem::temp_directory_path() / "headrace-ca-XXXXXX").string();
  REQUIRE(::mkdtemp(pattern.data()) != nullptr);
  state_->directory = pattern;
  state_->key = make_key();
  state_->certificate = sign("testing CA", state_->key.get(), nullptr, state_->key.get());
  PEM_write_X509(open_for_writing(pattern + "/ca.pem").get(), state_->certificate.get());
}

testing_ca::~testing_ca() { std::filesystem::remove_all(state_->directory); }

actors::tls_files testing_ca::issue(const std::string& name) const {
  const auto key = make_key();
  const auto certificate = sign(name, key.get(), state_->certificate.get(), state_->key.get());
  const actors::tls_files out{.certificate = state_->directory + '/' + name + ".pem",
                              .key = state_->directory + '/' + name + ".key",
                              .ca = state_->directory + "/ca.pem"};
  PEM_write_X509(open_for_writing(out.certificate).get(), certificate.get());
  PEM_write_PrivateKey(open_for_writing(out.key).get(), key.get(), nullptr, nullptr, 0, nullptr,
                       nullptr);
  return out;
}

} // namespace headrace::testing
